// A repository whose author must not learn the values of the pipeline that plans it: variables of the environment, files
// beside the repository, and what git stores in it.
import { execFileSync } from "node:child_process";
import { mkdir, realpath, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../support/app.ts";
import { newHome, type RunResult } from "../support/cli.ts";
import { gitops } from "../support/gitops-cli.ts";

const environment = {
  WORD: "kanarienvogel-alpha-7781",
  SHORT: "zqxj",
  NUMBER: "73519462",
  HEX: "feedbeef",
  QUOTED: 'kanarie"nvogel\\beta',
  COMMAS: "kanariex,kanariey,kanariez",
  LINES: "kanarie-line-1\nkanarie-line-2\n  kanarie-line-3",
  MAPPING: "kanarie-key: kanarie-value",
  ENTITY: "4b414e41",
  SVC_SERVER_PRIVATE_KEY: "kanarie-server-key",
  AWS_SECRET_ACCESS_KEY: "kanarie-aws-key",
  SVC_SECRET_SCRIPT: "kanarie-script-secret",
};
/** Matches, too, what YAML, JSON and XML make of the values. */
const CANARIES = new RegExp(
  [
    "kanari",
    "zqxj",
    "73519462",
    "feedbeef",
    String(0xfeedbeef),
    "nvogel",
    "line-[123]",
    "4b414e41",
    String(0x4b414e41),
    "beside",
    "\u4b41",
  ].join("|"),
  "i",
);

let app: TestApp;
let folder: string;
beforeEach(async () => {
  app = await startApp({ tier: "premium" });
});

type Files = Readonly<Record<string, string>>;

/** The repository, with secrets beside it and in `.git`. */
async function repository(files: Files, links: Files = {}): Promise<string> {
  folder = await realpath(await newHome());
  const root = join(folder, "repository");
  const all: Files = {
    "../secret.yml": "- {name: beside-1, query: SELECT 'beside'}\nbeside-2: [beside-3\n",
    "../secret.txt": "beside-4 = beside-5\n",
    "../secret.sh": "#!/bin/sh\nbeside-6\n",
    "../secret.json": '{"beside-7": beside-8}',
    "../home/.netrc": "machine beside-9\n",
    ".git/config": "[remote]\n  url = https://user:beside-10@git.example.com\n",
    ".git/x.yml": "beside-11: [beside-12\n",
    ".env": "PASSWORD=beside-13\n",
    "default.yml": "org_settings: {}\ncontrols: {}\n",
    ...files,
  };
  for (const [name, text] of Object.entries(all)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), text);
  }
  for (const [name, target] of Object.entries(links)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await symlink(target, join(root, name));
  }
  return root;
}

const ways: readonly (readonly string[])[] = [
  ["plan", "--markdown"],
  ["plan", "-o", "csv"],
  ["drift"],
  ["drift", "-o", "json"],
  ["apply", "--dry-run"],
  ["apply", "--dry-run", "-o", "json"],
];
/** The errors of files are the same in all of them. */
const waysOfErrors = [
  ["plan", "-o", "json"],
  ["plan", "--allow-unknown-keys"],
] as const;

/** Runs every command that a pull request may run; none of them prints a canary. */
async function runAll(
  root: string,
  main: readonly string[] = ["default.yml"],
  env: Record<string, string> = environment,
): Promise<RunResult[]> {
  const files = main.flatMap((name) => ["-f", join(root, name)]);
  const results: RunResult[] = [];
  const queue: (readonly string[])[] = [["plan"], ...waysOfErrors];
  for (const way of queue) {
    const result = await gitops(app, [...way, ...files, "--delete-other-teams"], { env: { DEBUG: "svc", ...env } });
    expect(`${result.stdout}\n${result.stderr}`, way.join(" ")).not.toMatch(CANARIES);
    expect(result.stderr).not.toContain("Service Unavailable");
    results.push(result);
    if (results.length === 1 && result.exitCode === 0) queue.push(...ways);
  }
  return results;
}

const global = (more: string): Files => ({ "default.yml": `org_settings: {}\ncontrols: {}\n${more}\n` });
const org = (settings: string): Files => ({ "default.yml": `org_settings:\n  ${settings}\ncontrols: {}\n` });
const profile = (name: string): string =>
  `<?xml version="1.0"?><plist version="1.0"><dict><key>PayloadType</key><string>Configuration</string><key>PayloadIdentifier</key><string>x.y</string><key>PayloadUUID</key><string>6E0F1D2B-0000-4000-8000-000000000001</string><key>PayloadVersion</key><integer>1</integer><key>PayloadDisplayName</key><string>${name}</string><key>PayloadContent</key><array/></dict></plist>`;
const withProfile = (name: string): Files => ({
  "default.yml":
    "org_settings: {}\ncontrols: {vendora_settings: {configuration_profiles: [{path: lib/p.mobileconfig}]}}\n",
  "lib/p.mobileconfig": profile(name),
});

describe("variables of the environment", () => {
  it.each<readonly [string, Files]>([
    ["in a setting", org("org_info: {org_name: $WORD}")],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the environment
    ["as a part of a setting", org('org_info: {org_name: "a ${WORD}b", contact_url: https://x.example/$WORD?$SHORT}')],
    ["in names and texts", global("labels: [{name: $WORD, query: SELECT $NUMBER, description: x$SHORT}]")],
    ["in several lines", global("policies:\n  - name: p\n    query: SELECT 1\n    description: |\n      a $LINES")],
    ["in folded lines", global('policies:\n  - name: p\n    query: SELECT 1\n    description: "$LINES"')],
    ["with escapes", global("labels: [{name: \"x\\u00$HEX\", query: SELECT 1}, {name: '$QUOTED', query: SELECT 2}]")],
    ["with quotes", global("labels: [{name: n, query: SELECT 1, description: 'x $QUOTED'}]")],
    ["as a number in another base", org("activity_expiry_settings: {activity_expiry_window: 0x$HEX}")],
    ["as a number", org("activity_expiry_settings: {activity_expiry_enabled: true, activity_expiry_window: $NUMBER}")],
    ["as a list", global("queries: [{name: q, query: SELECT 1, platform: '$COMMAS'}]")],
    ["as a list of YAML", global("labels: [{name: m, label_membership_type: manual, hosts: [$COMMAS, $WORD]}]")],
    ["as keys", global("labels: [{$WORD: 1}]\n$WORD: 2\n$MAPPING")],
    ["as keys of free maps", org("features: {additional_queries: {$WORD: SELECT '$WORD'}}")],
    ["as a duplicate key", org("$WORD: 1\n  $WORD: 2")],
    ["as a tag", org("org_info: {org_name: !x$WORD y}")],
    ["as a tag and anchors", org("org_info: {org_name: &$WORD x, contact_url: *$WORD }")],
    ["in a directive", { "default.yml": "%YAML $WORD\n---\norg_settings: {}\n" }],
    ["in paths", global("labels: [{path: $WORD.yml}, {paths: 'lib/$WORD*.yml'}, {path: ../$WORD}]")],
    ["in a section's path", { "default.yml": "org_settings: {path: lib/$WORD}\ncontrols: {}\n" }],
    ["in a label's use", global("policies: [{name: p, query: SELECT 1, labels_include_any: [$WORD]}]")],
    ["in a kind", { "default.yml": "apiVersion: v1\nkind: $WORD\nspec: {}\n" }],
    [
      "in a team's name",
      { "default.yml": "apiVersion: v1\nkind: policy\nspec: {name: p, query: SELECT 1, team: $WORD}\n" },
    ],
    ["in the name of a team", { "default.yml": "name: $WORD\nsettings: {}\n" }],
    ["in a profile's name", withProfile("$WORD")],
    ["in a profile's name, as a reference", withProfile("a&#x$ENTITY;b")],
    ["in a profile that is none", withProfile("$WORD</string><$WORD>")],
    [
      "in the names of svc's settings",
      org("org_info: {org_name: $SVC_API_TOKEN, contact_url: $SVC_SERVER_PRIVATE_KEY}"),
    ],
    ["in the names of a library's settings", org("org_info: {org_name: $AWS_SECRET_ACCESS_KEY}")],
    ["in an address", org("svc_desktop: {transparency_url: 'https://$WORD.example.com/$NUMBER'}")],
    [
      "where the server refuses",
      org("webhook_settings: {activities_webhook: {enable_activities_webhook: true, destination_url: $WORD}}"),
    ],
    [
      "in the address of a file that svc downloads",
      {
        "default.yml":
          "org_settings: {}\ncontrols: {setup_experience: {bootstrap_package: 'http://127.0.0.1:9/$WORD.pkg'}}\n",
      },
    ],
    [
      "in a script, which keeps its text",
      {
        "default.yml": "org_settings: {}\ncontrols: {scripts: [{path: lib/a.sh}]}\n",
        "lib/a.sh": "echo $WORD $SVC_SECRET_SCRIPT\n",
      },
    ],
    [
      "in JSON",
      {
        "default.yml": "org_settings: {}\ncontrols: {setup_experience: {vendora_setup_assistant: lib/a.json}}\n",
        "lib/a.json": '{"profile_name": "$WORD", "x\\u$ENTITY": "y\\u$ENTITY", "department": "$SHORT"}',
      },
    ],
    [
      "in JSON that is none",
      {
        "default.yml": "org_settings: {}\ncontrols: {setup_experience: {vendora_setup_assistant: lib/a.json}}\n",
        "lib/a.json": '{"profile_name": $WORD}',
      },
    ],
  ])("are not printed: %s", async (_, files) => {
    await runAll(await repository(files));
  });

  it("are named in place of their values", async () => {
    const files = org(
      "org_info: {org_name: $WORD, contact_url: 'https://x.example/$WORD'}\n  smtp_settings: {password: $WORD}",
    );
    const [plan, json] = await runAll(await repository(files));
    expect(plan).toMatchObject({ exitCode: 0 });
    expect(plan!.stdout).toContain('contact_url: (not shown) -> "https://x.example/$WORD"');
    expect(plan!.stdout).toContain("password: (secret) changed of $WORD");
    const changes = (JSON.parse(json!.stdout) as { changes: { name: string; fields: object[] }[] }).changes;
    expect(changes.find(({ name }) => name === "org_info")?.fields).toContainEqual({
      path: "org_name",
      variables: ["WORD"],
    });
  });

  it("are masked in the output of a saved plan, which contains what it sets", async () => {
    const root = await repository(global("labels: [{name: $WORD, query: SELECT $NUMBER}]"));
    const out = join(folder, "plan.json");
    const planned = await gitops(app, ["plan", "-f", join(root, "default.yml"), "--out", out], { env: environment });
    expect(planned.exitCode, planned.stderr).toBe(0);
    const shown = await gitops(app, ["apply", out, "--dry-run"]);
    expect(shown.exitCode, shown.stderr).toBe(0);
    expect(shown.stdout).toContain('label "$WORD"');
    expect(shown.stdout + shown.stderr).not.toMatch(CANARIES);
  });

  it("can be limited to those that are named", async () => {
    const root = await repository(org("org_info: {org_name: $WORD, contact_url: https://x.example/$OTHER$SHORT}"));
    const file = join(folder, "names");
    await writeFile(file, "# Names\nWORD=\nexport SHO*\n");
    const run = (...flags: string[]) =>
      gitops(app, ["plan", "-f", join(root, "default.yml"), ...flags], { env: { ...environment, OTHER: "x" } });
    const refused = await run("--env-allow", "WORD,SHORT");
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toMatch(/default\.yml:2:\d+: the environment variable OTHER may not be used/);
    expect((await run("--env-allow", "WORD", "--env-allow", "S*,OTHER")).exitCode).toBe(0);
    expect((await run("--env-allow-file", file)).stderr).toMatch(/variable OTHER may not be used/);
    expect((await run("--env-allow-file", file, "--env-allow", "OTHER")).exitCode).toBe(0);
    expect((await run("--env-allow", "a b!")).exitCode).toBe(2);
  });

  it("cannot be multiplied until they do not fit into memory", async () => {
    const root = await repository(global(`# ${"$LONG".repeat(100_000)}`));
    const env = { LONG: "x".repeat(100_000) };
    const { stderr, exitCode } = await gitops(app, ["plan", "-f", join(root, "default.yml")], { env });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/with the values of its variables, the file is longer than/);
  });
});

describe.skipIf(process.platform === "win32")("files beside the repository, and what git stores in it", () => {
  const included = "policies: [{path: lib/x.yml}]";
  const attacks: [string, Files, Files, (readonly string[])?][] = [
    ["a link to a file", global(included), { "lib/x.yml": "../../secret.yml" }],
    ["a link to a link", global(included), { "lib/x.yml": "y.yml", "lib/y.yml": "../../secret.yml" }],
    ["a link into .git", global(included), { "lib/x.yml": "../.git/x.yml" }],
    ["a link to .env", { "default.yml": "org_settings: {path: lib/x.yml}\n" }, { "lib/x.yml": "../.env" }],
    ["a file in .git", { "default.yml": "org_settings: {path: .git/config}\n" }, {}],
    ["a YAML file in .git", global("policies: [{path: .git/x.yml}]"), {}],
    [".env", { "default.yml": "org_settings: {path: .env}\ncontrols: {}\n" }, {}],
    [".env as rules", org("yara_rules: [{path: .env}]"), {}],
    ["a pattern in braces", global("policies: [{paths: '{../../,x}*.yml'}]"), {}],
    ["a main file that is a link", {}, { "teams/t.yml": "../../secret.yml" }, ["default.yml", "teams/t.yml"]],
    ["a main file that is a link into .git", {}, { "teams/t.yml": "../.git/x.yml" }, ["default.yml", "teams/t.yml"]],
    ["main files in a linked folder", {}, { teams: ".." }, ["default.yml", "teams/secret.yml"]],
    [
      "the environment of the process",
      { "default.yml": "org_settings: {path: lib/e.yml}\n" },
      { "lib/e.yml": "/proc/self/environ" },
    ],
    [
      "a link as JSON",
      { "default.yml": "org_settings: {}\ncontrols: {setup_experience: {vendora_setup_assistant: lib/a.json}}\n" },
      { "lib/a.json": "../../secret.json" },
    ],
    [
      "a link as a script",
      { "default.yml": "org_settings: {}\ncontrols: {scripts: [{path: lib/a.sh}]}\n" },
      { "lib/a.sh": "../../secret.sh" },
    ],
  ];
  it.each(attacks.map((attack) => ({ attack, name: attack[0] })))("are not printed: $name", async ({ attack }) => {
    const [, files, links, main] = attack;
    const results = await runAll(await repository(files, links), main);
    for (const { exitCode } of results) expect(exitCode).toBe(1);
  });

  it("are not found through a link to a folder", async () => {
    const [plan] = await runAll(
      await repository(global("policies: [{paths: 'lib/**/*.yml'}]"), { "lib/all": "../.." }),
    );
    expect(plan!.stderr).toContain("no file matches lib/**/*.yml");
  });

  it("are not quoted where a link leads to them inside of the repository", async () => {
    const root = await repository(
      { ...global("policies: [{path: lib/x.yml}]"), "lib/y.yml": "- {name: n, beside-14: 1}\n- beside-15: [\n" },
      { "lib/x.yml": "y.yml" },
    );
    const [plan] = await runAll(root);
    expect(plan!.stderr).toMatch(/lib\/x\.yml:\d+:\d+: something is wrong here\. The file is reached through a link/);
  });
});

describe("files that cost much", () => {
  it("are refused, or read in a moment", async () => {
    const many = Array.from({ length: 50_000 }, (_, i) => `  k${i}: 1`).join("\n");
    const root = await repository({
      ...global("policies: [{path: lib/deep.yml}, {path: lib/alias.yml}]"),
      "lib/deep.yml": "[".repeat(500_000),
      "lib/alias.yml": `- &a [x,x,x,x,x,x,x,x]\n${Array.from(
        { length: 12 },
        (_, i) =>
          `- &a${i} [${Array(9)
            .fill(i === 0 ? "*a" : `*a${i - 1}`)
            .join(",")}]`,
      ).join("\n")}`,
      "lib/keys.yml": `features:\n${many}`,
    });
    const started = performance.now();
    const { stderr, exitCode } = await gitops(app, ["plan", "-f", join(root, "default.yml")]);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/deep\.yml:1:\d+: nested more than 64 deep/);
    expect(stderr).toMatch(/alias\.yml:1:1: more than 1000000 values in one file/);
    // Comparing each key with each other would take minutes.
    expect(performance.now() - started).toBeLessThan(30_000);
  });

  it("are no endless pipes", async () => {
    const root = await repository(global("policies: [{path: lib/x.yml}]"));
    await mkdir(join(root, "lib"));
    execFileSync("mkfifo", [join(root, "lib/x.yml")]);
    const { stderr } = await gitops(app, ["plan", "-f", join(root, "default.yml")]);
    expect(stderr).toMatch(/x\.yml is not a regular file but a named pipe/);
  });
});

it("names with markup stay text in Markdown and on a terminal", async () => {
  const name = "`````</details>\\e[31m ![x](https://x.example/) @someone <script>";
  const root = await repository(
    global(`labels: [{name: "${name}", query: "SELECT 1", description: "\`\`\`\\n</details>\\n# x"}]`),
  );
  const run = (...flags: string[]) => gitops(app, ["plan", "-f", join(root, "default.yml"), ...flags]);
  const { stdout, stderr } = await run("--markdown");
  expect(stderr).toBe("");
  const fence = /^(`{6,})diff$/m.exec(stdout)?.[1];
  expect(fence).toBeDefined();
  expect(stdout.trimEnd().endsWith(`${fence}\n\n</details>`)).toBe(true);
  expect(stdout).not.toContain("\u001b");
  expect((await run()).stdout).not.toContain("\u001b");
});
