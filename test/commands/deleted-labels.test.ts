// Objects that still name a label which was deleted: what svc export, plan and apply do with them.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { deletedLabel } from "../../src/api/edge/configuration.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { turnOnAppleMdm } from "../support/apple.ts";
import { newHome } from "../support/cli.ts";
import { rulesEngines } from "../support/engines.ts";
import { applyIn, exportTo, gitops, mainFiles, planIn, writeAll } from "../support/gitops-cli.ts";
import { mobileconfig } from "../support/profiles.ts";

const GLOBAL = `org_settings: {}
controls:
  vendora_settings:
    configuration_profiles:
      - {path: lib/w.mobileconfig, labels_include_any: [Gone, Kept]}
labels:
  - {name: Gone, query: SELECT 1}
  - {name: Kept, query: SELECT 2}
`;
const WARNING = (kind: string) =>
  `${kind} names the label "Gone (deleted)": no further host gets it until its labels are corrected`;

/** A server with a profile whose label was deleted; returns the folder of its exported files. */
async function exported(t: TestApp): Promise<{ dir: string; stderr: string }> {
  await turnOnAppleMdm(t);
  await applyIn(
    t,
    await writeAll(
      new Map([
        ["default.yml", GLOBAL],
        ["lib/w.mobileconfig", mobileconfig("com.example.w", "", "W")],
      ]),
    ),
  );
  expect((await t.delete("/labels/Gone")).status).toBe(200);
  const dir = await newHome();
  return { dir, ...(await exportTo(t, dir)) };
}
const labelsOf = async (t: TestApp) =>
  (await t.store.profileLabels.list()).map(({ name, label_id }) => [name, label_id !== null]).sort();

describe.each(rulesEngines)("a profile with a deleted label on %s", (engine) => {
  it("is exported with a warning, planned without changes, and changed without a wider scope", async () => {
    const t = await startApp({ engine });
    const { dir, stderr } = await exported(t);
    expect(stderr).toContain(WARNING('configuration profile "W"'));
    expect(await planIn(t, dir)).toEqual([]);
    const planned = await gitops(t, ["plan", ...(await mainFiles(dir))]);
    expect(planned.stderr).toContain(WARNING('configuration profile "W"'));

    const path = join(dir, "lib/profiles/w.mobileconfig");
    await writeFile(path, (await readFile(path, "utf8")).replace("</plist>", "</plist>\n"));
    expect(await planIn(t, dir)).toMatchObject([{ action: "update", kind: "configuration_profile", name: "W" }]);
    await applyIn(t, dir);
    expect(await labelsOf(t)).toEqual([
      ["Gone", false],
      ["Kept", true],
    ]);
    expect(await planIn(t, dir)).toEqual([]);
  });

  it("can be corrected, and no other object can get the deleted label", async () => {
    const t = await startApp({ engine });
    const { dir } = await exported(t);
    const main = join(dir, "default.yml");
    const text = await readFile(main, "utf8");
    expect(text).toContain("Gone (deleted)");
    await writeFile(main, text.replace("labels_include_any", "labels_include_all"));
    const other = await gitops(t, ["plan", ...(await mainFiles(dir))]);
    expect([other.exitCode, other.stderr]).toEqual([
      expect.any(Number),
      expect.stringContaining('uses the label "Gone (deleted)", which will not exist'),
    ]);
    expect(other.exitCode).not.toBe(0);
    await writeFile(main, text.replace(/\n\s*- Gone \(deleted\)/, ""));
    await applyIn(t, dir);
    expect(await labelsOf(t)).toEqual([["Kept", true]]);
    expect((await exportTo(t, await newHome())).stderr).not.toContain("(deleted)");
  });
});

it("a package with a label that was deleted long ago is exported so that a plan is empty", async () => {
  const t = await startApp();
  const files = new Map([
    ["default.yml", "org_settings: {}\ncontrols: {}\nlabels: [{name: Gone, query: SELECT 1}]\n"],
    [
      "teams/ops.yml",
      "name: Ops\nsoftware: {packages: [{path: ../lib/own.sh, labels_exclude_any: [Gone]}]}\npolicies: []\n",
    ],
    ["lib/own.sh", "#!/bin/sh\necho 1\n"],
  ]);
  const onWait = () =>
    expect.poll(() => t.store.packageBatches.count(eq("status", "processing")), { timeout: 60_000 }).toBe(0);
  const first = await writeAll(files);
  const done = await gitops(t, ["apply", ...(await mainFiles(first)), "--yes"], { onWait });
  expect(done.exitCode, done.stderr).toBe(0);
  await t.store.installerLabels.update({ where: eq("name", "Gone"), set: { label_id: null } });
  expect((await t.delete("/labels/Gone")).status).toBe(200);
  // A new label with the same name is another one.
  await t.post("/labels", { name: "Gone", query: "SELECT 1" });

  const dir = await newHome();
  const { stderr } = await exportTo(t, dir);
  expect(stderr).toContain(WARNING('package "own.sh"'));
  expect(await planIn(t, dir)).toEqual([]);
  const team = join(dir, "teams/ops.yml");
  await writeFile(team, (await readFile(team, "utf8")).replace("Gone (deleted)", "Gone"));
  expect(await planIn(t, dir)).toMatchObject([{ kind: "package", name: "own.sh" }]);
});

it("names of deleted labels fit where names of labels do", () => {
  expect(deletedLabel("Gone")).toBe("Gone (deleted)");
  expect(deletedLabel("x".repeat(255))).toHaveLength(255);
  expect(deletedLabel(`${"x".repeat(244)}\u{1f5a5}${"x".repeat(9)}`)).toBe(`${"x".repeat(244)} (deleted)`);
});
