// examples/gitops unchanged: it can be applied, then a plan is empty, and its pipelines run commands that exist.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { startApp } from "../support/app.ts";
import { root } from "../support/cli.ts";
import { gitops, stateOf } from "../support/gitops-cli.ts";
import { makeUser } from "../support/make.ts";

const dir = join(root, "examples", "gitops");
const teams = (await readdir(join(dir, "teams"))).sort().map((name) => join(dir, "teams", name));

/** The words of a command, with files and patterns expanded as the shell would do. */
const inDir = (line: string): string[] =>
  line
    .replace(/ >.*$/, "")
    .split(" ")
    .slice(1)
    .flatMap((word) => (word === "teams/*.yml" ? teams : word.endsWith(".yml") ? [join(dir, word)] : [word]));

const variables = async () => {
  const names = [...(await readFile(join(dir, ".env.example"), "utf8")).matchAll(/^(\w+)=$/gm)].map(
    ([, name]) => name!,
  );
  return Object.fromEntries(names.map((name) => [name, `value-of-${name}`]));
};

describe("the example repository", () => {
  it("can be applied unchanged, and then nothing is left to do", async () => {
    const app = await startApp();
    const env = await variables();
    const files = ["-f", join(dir, "default.yml"), ...teams];
    const applied = await gitops(app, ["apply", ...files, "--yes"], { env });
    expect(applied.stderr).not.toMatch(/Error|\[!\]/);
    expect(applied.exitCode).toBe(0);
    expect(await gitops(app, ["plan", ...files, "--exit-code"], { env })).toMatchObject({ exitCode: 0, stderr: "" });
    const { things } = await stateOf(app);
    expect(
      things
        .filter(({ kind }) => kind === "team")
        .map(({ name }) => name)
        .sort(),
    ).toEqual(["Servers", "Workstations"]);
    expect(things.filter(({ kind }) => kind === "policy").length).toBe(7);
  });

  it("has pipelines whose commands work, in the order in which they run", async () => {
    const app = await startApp();
    const env = await variables();
    const github = parse(await readFile(join(dir, ".github/workflows/svc.yml"), "utf8")) as {
      jobs: Record<string, { env?: Record<string, string>; steps: { run?: string }[] }>;
    };
    const gitlab = parse(await readFile(join(dir, ".gitlab-ci.yml"), "utf8")) as Record<
      string,
      { variables?: Record<string, string>; script?: string[] }
    >;
    const tokens = {
      SVC_API_TOKEN: (await makeUser(app, "gitops", { api_only: true })).token,
      SVC_PLAN_TOKEN: (await makeUser(app, "plan", { api_only: true })).token,
    };
    for (const job of ["plan", "apply", "drift"]) {
      const lines = [...github.jobs[job]!.steps.map(({ run }) => run ?? ""), ...gitlab[job]!.script!];
      const commands = lines.filter((line) => line.startsWith("svc "));
      const each = commands.length / 2;
      expect(each).toBe(job === "plan" ? 2 : 1);
      expect(commands.slice(0, each)).toEqual(commands.slice(each));
      // Only the job that applies has a token that can write.
      const variable = job === "apply" ? "SVC_API_TOKEN" : "SVC_PLAN_TOKEN";
      expect(github.jobs[job]!.env!.SVC_API_TOKEN).toBe(`\${{ secrets.${variable} }}`);
      expect(gitlab[job]!.variables?.SVC_API_TOKEN).toBe(job === "apply" ? undefined : `$${variable}`);
      const SVC_API_TOKEN = tokens[variable];
      for (const command of commands.slice(0, each)) {
        const result = await gitops(app, inDir(command), { env: { ...env, SVC_API_TOKEN, CI: "true" } });
        expect(result.exitCode, `${command}: ${result.stderr}`).toBe(0);
      }
      expect(await app.store.teams.count()).toBe(job === "plan" ? 0 : 2);
    }
    // Every secret that the files need is passed on.
    const workflow = await readFile(join(dir, ".github/workflows/svc.yml"), "utf8");
    for (const name of Object.keys(env)) expect(workflow).toContain(`${name}: \${{ secrets.${name} }}`);
  });
});
