SELECTidFROM	shop.orders
LIMIT 1