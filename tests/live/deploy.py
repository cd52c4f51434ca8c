"""deploy/: containers, service, rotation. What can be checked without a container engine, is: the files by
the tools that read them, and pgwicket as it runs in a container, with the configuration of compose.yaml."""
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import closing

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import psycopg2
import yaml

from live import Skip, check, equal, eventually, main
from wicket import ALLOW_ALL, BIN, SERVER_PORT, SERVER_SOCKET, Database, free_port, wicket

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
DEPLOY = os.path.join(TOP, "deploy")
CONTAINER_USER = 10001


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, **options)


def fine(*command, **options):
    result = run(*command, **options)
    equal(result.returncode, 0, f"{' '.join(command)}: {result.stdout}{result.stderr}")
    return result.stdout


def read(name):
    with open(os.path.join(DEPLOY, name), encoding="utf-8") as file:
        return file.read()


# --- the image ---------------------------------------------------------------------------------------


def instructions():
    text = re.sub(r"\\\n", " ", re.sub(r"(?m)^#.*\n", "", read("Dockerfile")))
    return [line.split(None, 1) for line in text.splitlines() if line.strip()]


def test_the_dockerfile_ends_in_a_small_image_of_an_ordinary_user():
    stages = [i for i, (word, _) in enumerate(instructions()) if word == "FROM"]
    equal(len(stages), 2, "stages")
    last = dict(instructions()[stages[-1]:])
    equal(last["FROM"], "debian:bookworm-slim")
    equal(last["USER"], f"{CONTAINER_USER}:{CONTAINER_USER}")
    for word in ("ENTRYPOINT", "CMD", "VOLUME"):
        json.loads(last[word])  # exec form: pgwicket itself gets the signals
    check("pgwicket" in last["HEALTHCHECK"] and "health" in last["HEALTHCHECK"], "health check")
    copied = {source for word, rest in instructions() if word == "COPY" and "--from" not in rest
              for source in rest.split()[:-1]}
    equal([name for name in copied if not os.path.exists(os.path.join(TOP, name))], [], "sources that are not there")
    kept = {line[1:] for line in read("Dockerfile.dockerignore").splitlines() if line.startswith("!")}
    equal(copied, kept, "what is copied, and what the ignore file lets through")


def owner_of(library):
    """The Debian package of a file; where /lib is a link, it is known by one of two names."""
    path = os.path.realpath(library)
    found = run("dpkg", "-S", path).stdout or run("dpkg", "-S", path.removeprefix("/usr")).stdout
    return found.split(":")[0]


def test_the_image_has_every_library_that_pgwicket_needs():
    run_packages = {line.split()[1] for line in read("packages").splitlines() if line.startswith("run ")}
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", fine("readelf", "-d", BIN)))
    paths = dict(re.findall(r"(\S+) => (/\S+)", fine("ldd", BIN)))
    owners = {owner_of(paths[name]) for name in needed}
    of_the_tests_own_build = {"libasan8", "libubsan1"}
    equal(owners - run_packages - of_the_tests_own_build, {"libc6"}, "beside group run of deploy/packages")


# --- compose and Kubernetes ------------------------------------------------------------------------------


def compose():
    return yaml.safe_load(fine("docker-compose", "-f", "compose.yaml", "--profile", "agent", "config", cwd=DEPLOY))


def test_docker_compose_reads_the_file_and_every_file_that_it_names_is_there():
    made = compose()
    equal(set(made["services"]), {"pgwicket", "database", "agent"})
    for service in made["services"].values():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0] if isinstance(volume, str) else volume["source"]
            check(not source.startswith("/") or os.path.exists(source), f"{source} is not there")


def test_an_agent_shares_a_network_with_pgwicket_only():
    services = compose()["services"]
    networks = compose()["networks"]
    of = {name: set(service["networks"]) for name, service in services.items()}
    equal(of["agent"] & of["database"], set(), "networks of agent and database")
    check(of["agent"] & of["pgwicket"] and of["database"] & of["pgwicket"], "pgwicket is between them")
    for name in of["agent"] | of["database"]:
        check(networks[name]["internal"], f"{name} leads outside")
    equal(services["agent"]["depends_on"], {"pgwicket": {"condition": "service_healthy"}})
    equal(services["pgwicket"]["depends_on"], {"database": {"condition": "service_healthy"}})
    equal((services["pgwicket"]["read_only"], services["pgwicket"]["cap_drop"]), (True, ["ALL"]))
    secrets = {s["source"] for s in services["agent"]["secrets"]}
    equal(secrets, {"ca.crt", "support-bot"}, "what the agent knows")


def documents(name):
    with open(os.path.join(DEPLOY, name), encoding="utf-8") as file:
        return [d for d in yaml.safe_load_all(file) if d]


def test_the_kubernetes_objects_fit_together():
    objects = {(d["kind"], d["metadata"]["name"]): d for d in documents("kubernetes/sidecar.yaml")}
    for document in objects.values():
        check(document["apiVersion"] and document["metadata"]["name"], "apiVersion and name")
    pod = objects["Deployment", "agent"]["spec"]["template"]
    equal(objects["Deployment", "agent"]["spec"]["selector"]["matchLabels"], pod["metadata"]["labels"])
    containers = {c["name"]: c for c in pod["spec"]["containers"]}
    for container in containers.values():
        security = container["securityContext"]
        equal((security["allowPrivilegeEscalation"], security["readOnlyRootFilesystem"],
               security["capabilities"]["drop"]), (False, True, ["ALL"]))
    equal((pod["spec"]["securityContext"]["runAsNonRoot"], pod["spec"]["securityContext"]["runAsUser"]),
          (True, CONTAINER_USER))
    volumes = {v["name"] for v in pod["spec"]["volumes"]}
    equal({m["name"] for m in containers["pgwicket"]["volumeMounts"]}, volumes)
    check("volumeMounts" not in containers["agent"], "the agent's container sees no secret of pgwicket")
    secrets = set(objects["Secret", "pgwicket"]["stringData"])
    named = {e["valueFrom"]["secretKeyRef"]["key"] for e in containers["agent"]["env"] if "valueFrom" in e}
    equal(named, {"support-bot"}, "what the agent knows")
    files = set(re.findall(r"/run/secrets/pgwicket/([\w-]+)", objects["ConfigMap", "pgwicket"]["data"]["wicket.yaml"]))
    equal(files, secrets, "secrets that the configuration reads")
    policies = [d for (kind, _), d in objects.items() if kind == "NetworkPolicy"]
    egress = [p for p in policies if "Egress" in p["spec"]["policyTypes"]]
    equal([p["spec"]["podSelector"]["matchLabels"] for p in egress], [pod["metadata"]["labels"]])
    check(all(rule.get("to") for p in egress for rule in p["spec"]["egress"]), "an egress to everywhere")


def test_the_configurations_that_are_shown_are_valid():
    shown = [read("compose/wicket.yaml")]
    shown += [d["data"]["wicket.yaml"] for d in documents("kubernetes/sidecar.yaml") if d["kind"] == "ConfigMap"]
    for number, text in enumerate(shown):
        with tempfile.TemporaryDirectory(prefix="pgwicket-deploy-") as folder:
            fine("cp", "-r", DEPLOY + "/compose", folder + "/compose")
            shutil.rmtree(folder + "/compose/secrets", ignore_errors=True)
            fine(folder + "/compose/make-secrets")
            secrets = folder + "/compose/secrets"
            for name in ("tls.crt", "tls.key"):
                shutil.copy(f"{secrets}/server{name[3:]}", f"{secrets}/{name}")
            text = re.sub(r"/run/(secrets/pgwicket|secrets|tls)/", secrets + "/", text)
            with open(folder + "/wicket.yaml", "w", encoding="utf-8") as file:
                file.write(text)
            result = run(BIN, "check", folder + "/wicket.yaml")
            # There is no such database here: that is a warning.
            check("error:" not in result.stderr, f"{number}: {result.stderr}")


def test_the_examples_for_log_shippers_read_the_file_that_pgwicket_writes():
    for name in ("logs/vector.yaml", "logs/fluent-bit.yaml"):
        check(isinstance(documents(name)[0], dict), name)
    for name in ("logs/vector.yaml", "logs/fluent-bit.yaml", "logs/config.alloy", "logrotate/pgwicket",
                 "compose/wicket.yaml"):
        check("/var/log/pgwicket/audit.jsonl" in read(name), name)
    alloy = re.sub(r"//[^\n]*", "", re.sub(r'"[^"]*"', '""', read("logs/config.alloy")))
    for left, right in ("{}", "[]", "()"):
        equal(alloy.count(left), alloy.count(right), f"config.alloy: {left}{right}")


# --- the service ------------------------------------------------------------------------------------------


def test_systemd_accepts_the_unit_and_finds_little_exposed():
    with tempfile.TemporaryDirectory(prefix="pgwicket-unit-") as folder:
        unit = folder + "/pgwicket.service"
        with open(unit, "w", encoding="utf-8") as file:
            file.write(read("systemd/pgwicket.service").replace("/usr/bin/pgwicket", BIN))
        result = run("systemd-analyze", "verify", "--man=no", unit)
        equal((result.returncode, result.stdout, result.stderr), (0, "", ""))
        # Exposure 2.0 of 10; what is left is the network, which it is for.
        fine("systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=20", unit)


def test_logrotate_rotates_and_the_chain_goes_on():
    with wicket(ALLOW_ALL) as (_, running):
        rotation = re.sub(r"/var/log/pgwicket/audit\.jsonl(?= \{)", running.audit_file, read("logrotate/pgwicket"))
        rotation = re.sub(r"\n    su .*", "", rotation)
        rotation = re.sub(r"systemctl kill .*", f"kill -HUP {running.process.pid}", rotation)
        with open(running.folder + "/rotate", "w", encoding="utf-8") as file:
            file.write(rotation)
        os.chmod(running.folder + "/rotate", 0o600)
        files = []
        for number in range(1, 4):
            with closing(running.connect()) as connection:
                connection.cursor().execute("SELECT 1")
            time.sleep(1)  # the new name has the second in it
            fine("logrotate", "--force", "--state", running.folder + "/state", running.folder + "/rotate")
            eventually(lambda: os.path.exists(running.audit_file), "a new file")
            files = sorted(glob.glob(running.audit_file + "-*"), key=os.path.getmtime)
            equal(len(files), number, "old files")
        plain = []
        for name in files:
            if name.endswith(".gz"):
                fine("gunzip", name)
            plain.append(name.removesuffix(".gz"))
        fine(BIN, "verify", *plain, running.audit_file)


# --- as a container --------------------------------------------------------------------------------------


class Contained:
    """pgwicket with the configuration of compose.yaml: its user, no capability, a read-only root, audit on stdout."""

    def __init__(self, database):
        if os.getuid() != 0 or run("unshare", "--mount", "true").returncode != 0:
            raise Skip("needs root and mount namespaces")
        self.folder = tempfile.mkdtemp(prefix="pgwicket-container-")
        os.chmod(self.folder, 0o755)
        self.port, self.review = free_port(), free_port()
        fine("cp", "-r", DEPLOY + "/compose", self.folder + "/compose")
        shutil.rmtree(self.folder + "/compose/secrets", ignore_errors=True)
        fine(self.folder + "/compose/make-secrets")
        self.secrets = self.folder + "/secrets"
        os.rename(self.folder + "/compose/secrets", self.secrets)
        os.chmod(self.secrets, 0o755)
        os.chmod(self.secrets + "/upstream", 0o644)
        with open(self.secrets + "/upstream", "w", encoding="utf-8") as file:
            file.write(f"host=127.0.0.1 port={SERVER_PORT} dbname={database.name} user=wicket_rw password=rw\n")
        os.mkdir(self.folder + "/state")
        os.chown(self.folder + "/state", CONTAINER_USER, CONTAINER_USER)
        text = read("compose/wicket.yaml").replace("/run/secrets", self.secrets)
        text = text.replace("/var/log/pgwicket/audit.jsonl", '"-"').replace("/var/lib/pgwicket", self.folder + "/state")
        text = text.replace("0.0.0.0:6432", f"0.0.0.0:{self.port}").replace("0.0.0.0:6480", f"0.0.0.0:{self.review}")
        with open(self.folder + "/wicket.yaml", "w", encoding="utf-8") as file:
            file.write(text)

    def __enter__(self):
        shutil.copy(BIN, self.folder + "/pgwicket")
        script = (f"mount --make-rprivate / && mount --bind {self.folder}/state {self.folder}/state && "
                  "mount -o remount,bind,ro / && (! touch /etc/x 2>/dev/null) && "
                  f"exec setpriv --reuid {CONTAINER_USER} --regid {CONTAINER_USER} --clear-groups --no-new-privs "
                  f"--bounding-set -all --inh-caps -all {self.folder}/pgwicket serve {self.folder}/wicket.yaml")
        with open(self.folder + "/out", "wb") as out, open(self.folder + "/err", "wb") as err:
            self.process = subprocess.Popen(["unshare", "--mount", "sh", "-c", script], stdout=out, stderr=err,
                                            stdin=subprocess.DEVNULL)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def health(self):
        return run(BIN, "health", "--url", f"https://127.0.0.1:{self.review}", "--ca", self.secrets + "/ca.crt").returncode

    def output(self, name):
        with open(f"{self.folder}/{name}", encoding="utf-8") as file:
            return file.read()

    def connect(self):
        with open(self.secrets + "/support-bot", encoding="utf-8") as file:
            password = file.read().strip()
        connection = psycopg2.connect(host="localhost", port=self.port, dbname="shop", user="support-bot",
                                      password=password, sslmode="verify-full", sslrootcert=self.secrets + "/ca.crt")
        connection.autocommit = True
        return connection


class Shop(Database):
    """The shop of the quickstart, which compose.yaml loads."""

    def __init__(self):
        super().__init__(template="template0")
        fine("psql", "-q", "-X", "-v", "password=rw", self.superuser, "-f", DEPLOY + "/quickstart.sql")

    def __exit__(self, *arguments):
        super().__exit__(*arguments)
        self._admin("postgres", "DROP ROLE wicket_rw")


def test_it_behaves_as_the_process_of_a_container_should():
    with Shop() as database, Contained(database) as contained:
        equal(contained.health(), 3, "health before it listens")
        eventually(lambda: contained.health() == 0, f"health: {contained.output('err')}", 60)
        with closing(contained.connect()) as connection:
            cursor = connection.cursor()
            cursor.execute("SELECT count(*) FROM orders")
            equal(cursor.fetchone()[0], 200)
            # SIGTERM: what is open goes on, nobody new is let in, and then it ends with 0.
            cursor.execute("BEGIN")
            contained.process.send_signal(signal.SIGTERM)
            eventually(lambda: contained.health() != 0, "not ready any more")
            cursor.execute("UPDATE orders SET notes = 'late' WHERE id = 1")
            cursor.execute("COMMIT")
            equal(contained.process.wait(20), 0, contained.output("err"))
        equal(database.value("SELECT notes FROM shop.orders WHERE id = 1"), "late")
        records = [json.loads(line) for line in contained.output("out").splitlines()]
        equal((records[1]["event.outcome"], records[-1]["event.outcome"]), ("start", "stop"), "audit log on stdout")
        check("ready" in contained.output("err") and "{" not in contained.output("err"), "operational log on stderr")


def test_health_says_what_is_wrong_by_its_exit_code():
    with wicket(ALLOW_ALL) as (_, running):
        equal(running.command("health").returncode, 0, "well")
        url = running.url
        running.values["upstream"] = f"host={SERVER_SOCKET} port=1 dbname=none user=agent"
        running.configure()
        running.signal(signal.SIGHUP)
        eventually(lambda: run(BIN, "health", "--url", url).returncode == 1, "not ready without its database")
        running.configure(None)
        running.stop()
        equal(run(BIN, "health", "--url", url).returncode, 3, "nobody there")


if __name__ == "__main__":
    sys.exit(main(globals()))
