/*
 * scram_verifier.h - for scram.c and the tests: what must not be chosen from outside, the salt and
 * the nonce.
 */
#ifndef PGWICKET_WIRE_SCRAM_VERIFIER_H
#define PGWICKET_WIRE_SCRAM_VERIFIER_H

#include "proxy/wire/scram.h"

/* HMAC-SHA-256. */
void scram_hmac(const uint8_t key[SHA256_SIZE], struct text message, uint8_t mac[SHA256_SIZE]);

/* Fills the keys of a verifier whose salt and iterations are set. */
void scram_verifier_derive(struct scram_verifier *verifier, struct text password);

/* Replaces the random part that the server adds to the nonce, before the first step. */
void scram_fix_nonce(struct scram_exchange *exchange, const char *nonce);

#endif
