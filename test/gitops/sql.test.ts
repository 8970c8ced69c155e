// Broken SQL in files is reported at its place, by plans and before anything is applied.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import { applyIn, gitops, mainFiles, writeAll } from "../support/gitops-cli.ts";

const files = (sql: string) =>
  writeAll(
    new Map([
      [
        "default.yml",
        `org_settings: {}
labels: [{name: L, query: "${sql}"}]
policies:
  - name: P
    query: ${sql}
reports:
  - path: lib/queries.yml
`,
      ],
      ["lib/queries.yml", `- name: Q\n  query: |\n    SELECT 1\n    FROM users\n    ${sql}\n`],
      [
        "teams/a.yml",
        "name: A\nsoftware:\n  packages:\n    - url: https://x.example.com/a.pkg\n      pre_install_query: {path: ../lib/pre.yml}\n",
      ],
      ["lib/pre.yml", `- name: pre\n  query: ${sql}\n`],
    ]),
  );

describe.each(rulesEngines)("broken SQL in files on %s", (engine) => {
  it("is reported at its place, and nothing is applied", async () => {
    const app = await startApp({ engine });
    const dir = await files("SELEC uid");
    for (const argv of [["plan"], ["apply", "--yes"], ["apply", "--dry-run"]]) {
      const { exitCode, stderr } = await gitops(app, [...argv, ...(await mainFiles(dir))]);
      expect(exitCode, stderr).toBe(1);
      const lines = stderr.replaceAll(`${dir}/`, "").split("\n");
      expect(lines.slice(0, 5)).toEqual([
        'default.yml:2:20: label "L": the SQL is not valid at column 1: near "SELEC": syntax error. Correct it and try again.',
        'default.yml:5:5: policy "P": the SQL is not valid at column 1: near "SELEC": syntax error. Correct it and try again.',
        'lib/queries.yml:2:3: query "Q": the SQL is not valid in line 3, column 7: near "uid": syntax error. Correct it and try again.',
        expect.stringMatching(
          /^teams\/a\.yml:5:7: package "https:.*": the SQL is not valid at column 1: near "SELEC": syntax error/,
        ),
        "Error: 4 errors in the files",
      ]);
    }
    expect(await app.store.labels.count()).toBe(await startApp({ engine }).then((t) => t.store.labels.count()));
    expect(await app.store.policies.count()).toBe(0);
  });

  it("is not looked for in what the server has already", async () => {
    const app = await startApp({ engine });
    const plain = (sql: string) =>
      writeAll(new Map([["default.yml", `org_settings: {}\npolicies: [{name: P, query: ${sql}}]\n`]]));
    await applyIn(app, await plain("SELECT 1"));
    await app.store.policies.update({ where: { op: "eq", column: "name", value: "P" }, set: { query: "SELEC uid" } });
    const broken = await plain("SELEC uid");
    expect((await gitops(app, ["plan", "-f", join(broken, "default.yml")])).stdout).toMatch(/^No changes/);
    const tables = await plain("SELECT unknown(x) FROM nobodys_table");
    expect((await gitops(app, ["plan", "-f", join(tables, "default.yml")])).exitCode).toBe(0);
  });
});
