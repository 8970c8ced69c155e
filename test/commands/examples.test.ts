// Every example in the help of a client command, run as it stands there against the real app.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { allEndpoints } from "../../src/api/all.ts";
import { type AnyEndpoint, fullPath } from "../../src/api/endpoint.ts";
import { sourceCommands } from "../../src/cli/source-config.ts";
import { everything } from "../../src/server/store/query.ts";
import { commandsOf, root, sendInto } from "../support/cli.ts";
import { type Example, examplesOf, needsBinary } from "../support/examples.ts";
import { type Fleet, startFleet } from "../support/fleet.ts";

const all = examplesOf(await commandsOf(true));
const examples = all.filter(({ id }) => !needsBinary(id));
const classes = await sourceCommands(root, (file) => import(/* @vite-ignore */ file));
const claimed = (id: string) => (classes[id] as { endpoints?: readonly AnyEndpoint[] } | undefined)?.endpoints ?? [];

/** `COMMAND ENDPOINT` for each request that an example made. */
const asked = new Set<string>();

const isFile = (word: string) => /^[\w-]+\.(txt|yml|json|pem)$/.test(word);

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
