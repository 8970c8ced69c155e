// Every example in the help of a client command, run as it stands there against the real app.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { allEndpoints } from "../../src/api/all.ts";
import { type AnyEndpoint, fullPath } from "../../src/api/endpoint.ts";
import { sourceCommands } from "../../src/cli/source-config.ts";
import { tokenHash } from "../../src/server/core/random.ts";
import { eq, everything } from "../../src/server/store/query.ts";
import { commandsOf, root, sendInto } from "../support/cli.ts";
import { type Example, examplesOf, needsBinary } from "../support/examples.ts";
import { type Fleet, startFleet } from "../support/fleet.ts";
import { answerLiveQueries } from "../support/live.ts";

const all = examplesOf(await commandsOf(true));
const examples = all.filter(({ id }) => !needsBinary(id));
const classes = await sourceCommands(root, (file) => import(/* @vite-ignore */ file));
const claimed = (id: string) => (classes[id] as { endpoints?: readonly AnyEndpoint[] } | undefined)?.endpoints ?? [];

/** `COMMAND ENDPOINT` for each request that an example made. */
const asked = new Set<string>();

const isFile = (word: string) => /^[\w-]+\.(txt|yml|json|pem|tar)$/.test(word);

function endpointOf(method: string, url: string): string | undefined {
  const parts = new URL(url).pathname.split("/");
  const fits = (endpoint: AnyEndpoint) => {
    const wanted = fullPath(endpoint).split("/");
    return wanted.length === parts.length && wanted.every((part, at) => part.startsWith(":") || part === parts[at]);
  };
  const found = allEndpoints.filter(({ endpoint }) => endpoint.method === method && fits(endpoint));
  // A path with fewer parameters is the one meant: /hosts/count is no host.
  const parameters = ({ endpoint }: (typeof found)[number]) => endpoint.path.split(":").length;
  return found.sort((a, b) => parameters(a) - parameters(b))[0]?.name;
}

/** What an example takes for granted beyond the fleet. */
async function prepare({ id, argv }: Example, { app, files }: Fleet): Promise<void> {
  if (id === "setup") await app.store.users.delete(everything);
  if (id === "login") {
    const user = { name: "Admin", email: "admin@example.com", password: "A-good-Password-77", global_role: "admin" };
    await app.post("/users/admin", user);
  }
  if (argv.includes("--required"))
    await app.store.users.update({ where: everything, set: { force_password_reset: true } });
  // Host 1 is managed by this server, and its disk's key is known.
  if (["hosts:mdm", "hosts:unenroll", "hosts:encryption-key"].includes(id)) {
    await app.store.hostMdm.insert({ id: 1, enrollment_status: "On (manual)", connected_to_svc: true });
    const key_updated_at = app.clock.iso();
    await app.store.hostDiskEncryption.insert({ id: 1, status: "verified", key: "A-KEY", key_updated_at });
  }
  if (id === "hosts:cancel") {
    const run = { created_at: app.clock.iso(), kind: "script", contents: "true", timeout: 60 } as const;
    await app.store.scriptRuns.insert({
      ...run,
      host_id: 1,
      execution_id: argv.find((word) => /^[0-9a-f-]{36}$/.test(word))!,
    });
  }
  if (/^hosts:(lock|unlock|wipe)$/.test(id)) {
    const { id: hostId } = (await app.store.hosts.first({ where: eq("hostname", "linux-1.example.com") }))!;
    await app.store.managedAgents.insert({ id: hostId, agent_key_hash: "hash", enrolled_at: app.clock.iso() });
    await app.store.hostActions.insert({ id: hostId, locked: id === "hosts:unlock" });
  }
  if (/^(query|hosts:query|queries:run|queries:live:.*|carves:start)$/.test(id)) {
    await answerLiveQueries(app);
    Object.assign(app.services.settings, { live_query_rest_period: 20_000 });
    await app.post("/queries/live", { query: "SELECT 1", selected: { hosts: [1] } });
  }
  if (id.startsWith("device:")) {
    const token = "0b0d1f6e-6a0f-4d0f-9a6a-5d1c6d2f3a11";
    await writeFile(join(files, "device-token.txt"), `${token}\n`);
    await app.store.deviceTokens.insert({ id: 1, token_hash: tokenHash(token), updated_at: app.clock.iso() });
  }
  if (id === "config:certificate") {
    const pem = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
    await writeFile(join(files, "chain.pem"), pem);
    Object.assign(app.services.settings, { tls_cert: join(files, "chain.pem") });
  }
}

describe("the examples in help", () => {
  it("are of every command", () => {
    expect([...new Set(all.map(({ id }) => id))].sort()).toEqual(Object.keys(classes).sort());
  });

  it.each(examples)("$text", async (example) => {
    const { id, argv, stdin } = example;
    const fleet = await startFleet();
    await prepare(example, fleet);
    const send = sendInto(fleet.app);
    const result = await fleet.run(
      argv.map((word) => (isFile(word) ? join(fleet.files, word) : word)),
      {
        stdin: stdin === null ? "" : await readFile(join(fleet.files, stdin), "utf8"),
        send: (url, init) => {
          asked.add(`${id} ${endpointOf(init.method, url)}`);
          return send(url, init);
        },
      },
    );
    expect(result.exitCode, `${result.stdout}${result.stderr}`).toBe(0);
    expect(`${result.stdout}${result.stderr}`).not.toBe("");
  });

  it("reach every endpoint that their command stands for", () => {
    const named = new Map(allEndpoints.map(({ name, endpoint }) => [endpoint, name]));
    const missing = [...new Set(examples.map(({ id }) => id))].flatMap((id) =>
      claimed(id)
        .map((endpoint) => `${id} ${named.get(endpoint)}`)
        .filter((one) => !asked.has(one)),
    );
    expect(missing).toEqual([]);
  });
});
