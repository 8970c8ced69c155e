// Every example in the help of a client command, run as it stands there against the real app.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { everything } from "../../src/server/store/query.ts";
import { commandsOf } from "../support/cli.ts";
import { startFleet } from "../support/fleet.ts";

interface Example {
  id: string;
  text: string;
}

const config = await commandsOf();
const examples: Example[] = config.commands.flatMap(({ id, examples = [] }) =>
  examples.map((example) => {
    const template = typeof example === "string" ? example : example.command;
    const text = template
      .replaceAll("<%= config.bin %>", "svc")
      .replaceAll("<%= command.id %>", id.replaceAll(":", " "));
    return { id, text };
  }),
);

/** The words as a shell splits them: quotes as far as the examples use them. */
const split = (text: string): string[] =>
  [...text.matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)].map(([word]) => word.replace(/'([^']*)'|"([^"]*)"/g, "$1$2"));

const isFile = (word: string) => /^[\w-]+\.(txt|yml|json|pem)$/.test(word);

describe("the examples in help", () => {
  it("are many", () => {
    expect(examples.length).toBeGreaterThan(45);
  });

  it.each(examples)("$text", async ({ id, text }) => {
    const words = split(text).slice(1);
    const fleet = await startFleet();
    // What an example takes for granted beyond the fleet.
    if (id === "setup") await fleet.app.store.users.delete(everything);
    if (id === "login") {
      const user = { name: "Admin", email: "admin@example.com", password: "A-good-Password-77", global_role: "admin" };
      await fleet.app.post("/users/admin", user);
    }
    if (id === "config:certificate") {
      const pem = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
      await writeFile(join(fleet.files, "chain.pem"), pem);
      Object.assign(fleet.app.services.settings, { tls_cert: join(fleet.files, "chain.pem") });
    }
    const at = words.indexOf("<");
    const stdin = at === -1 ? "" : await readFile(join(fleet.files, words[at + 1] ?? ""), "utf8");
    const argv = (at === -1 ? words : words.slice(0, at)).map((word) =>
      isFile(word) ? join(fleet.files, word) : word,
    );
    const result = await fleet.run(argv, { stdin });
    expect(result.exitCode, `${result.stdout}${result.stderr}`).toBe(0);
  });
});
