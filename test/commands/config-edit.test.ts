// `svc config edit`, with a script as the editor: each run applies the next step to the file.
import { mkdir, mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { AppConfig } from "../../src/api/settings/app-config.ts";
import type { RunOptions } from "../support/cli.ts";
import { type Fleet, startFleet } from "../support/fleet.ts";

interface Step {
  /** Written instead of the text. */
  write?: string;
  /** A text in one line, and its replacement. */
  replace?: [string, string];
  exit?: number;
}

/**
 * The editor: a shell script, as Node.js now and then does not end on a busy machine (nodejs/node issue 54918). Beside it
 * are the files of the steps, and what it saw at each start.
 */
const EDITOR = `cd "$(dirname "$0")"
step=$(ls seen | wc -l | tr -d ' ')
mkdir "seen/$step"
cat "$1" > "seen/$step/text"
ls -l "$1" | cut -c 1-10 > "seen/$step/mode"
printf %s "$1" > "seen/$step/path"
cd "steps/$step" 2>/dev/null || exit 0
if [ -f write ]; then cat write > "$1"; fi
if [ -f from ]; then
  FROM=$(cat from) TO=$(cat to) awk '
    !isDone && (at = index($0, ENVIRON["FROM"])) {
      $0 = substr($0, 1, at - 1) ENVIRON["TO"] substr($0, at + length(ENVIRON["FROM"]))
      isDone = 1
    }
    { print }' "../../seen/$step/text" > "$1"
fi
exit "$(cat exit)"
`;

async function writeSteps(folder: string, steps: readonly Step[]): Promise<void> {
  await mkdir(join(folder, "seen"));
  for (const [i, { write, replace, exit = 0 }] of steps.entries()) {
    const step = join(folder, "steps", String(i));
    await mkdir(step, { recursive: true });
    await writeFile(join(step, "exit"), String(exit));
    if (write !== undefined) await writeFile(join(step, "write"), write);
    if (replace) for (const [at, name] of ["from", "to"].entries()) await writeFile(join(step, name), replace[at]!);
  }
}

/** Runs the command; `seen` is the file's content at each start of the editor. */
async function edit(fleet: Fleet, argv: string[], steps: Step[], options: RunOptions = {}) {
  const folder = await mkdtemp(join(fleet.files, "editor-"));
  const script = join(folder, "editor.sh");
  await writeFile(script, EDITOR);
  await writeSteps(folder, steps);
  const result = await fleet.run(["config", "edit", ...argv], {
    ...options,
    env: { EDITOR: `sh "${script}"`, ...options.env },
  });
  const starts = (await readdir(join(folder, "seen"))).sort((a, b) => Number(a) - Number(b));
  const read = (start: string, name: string) => readFile(join(folder, "seen", start, name), "utf8");
  const seen = await Promise.all(
    starts.map(async (start) => ({
      text: await read(start, "text"),
      mode: (await read(start, "mode")).trim(),
      path: await read(start, "path"),
    })),
  );
  return { ...result, seen };
}
const configOf = async (fleet: Fleet) => (await (await fleet.app.get("/config")).json()) as AppConfig;

describe("config edit", () => {
  it("sends only the differences, after showing them and a confirmation", async () => {
    const fleet = await startFleet();
    const bodies: unknown[] = [];
    const steps: Step[] = [{ replace: ["interval: 24h", "interval: 8h"] }];
    const result = await edit(fleet, [], steps, {
      tty: true,
      answers: [true],
      send: async (url, init) => {
        const { pathname, search } = new URL(url);
        if (init.method === "PATCH") bodies.push(JSON.parse(String(init.body)));
        return fleet.app.raw(`${pathname}${search}`, init);
      },
    });
    expect(result.exitCode, result.stderr).toBe(0);
    expect(result.stderr).toContain('webhook_settings.interval: "24h" -> "8h"');
    expect(result.asked).toEqual(["Change this?"]);
    expect(bodies).toEqual([{ webhook_settings: { interval: "8h" } }, { webhook_settings: { interval: "8h" } }]);
    expect((await configOf(fleet)).webhook_settings.interval).toBe("8h");
    const [{ text, mode, path }] = result.seen as [(typeof result.seen)[0]];
    expect(mode).toBe("-rw-------");
    expect(text).toContain("org_info:\n  org_name: Test\n");
    expect(text).not.toMatch(/^(license|logging|update_interval|vulnerabilities):/m);
    const { existsSync } = await import("node:fs");
    expect(existsSync(path)).toBe(false);
  });

  it("changes a part, keeps secrets whose masks were kept, and shows none", async () => {
    const fleet = await startFleet();
    const smtp = {
      enable_smtp: true,
      server: "mx.example.com",
      sender_address: "svc@example.com",
      user_name: "svc",
      password: "canary-1",
    };
    expect((await fleet.app.patch("/config", { smtp_settings: smtp })).status).toBe(200);
    const first = await edit(fleet, ["smtp_settings", "--yes"], [{ replace: ["user_name: svc", "user_name: other"] }]);
    expect(first.exitCode, first.stderr).toBe(0);
    expect(first.seen[0]!.text).not.toContain("canary");
    expect((await fleet.app.services.config.current()).smtp_settings).toMatchObject({
      user_name: "other",
      password: "canary-1",
    });
    const second = await edit(fleet, ["smtp_settings", "--yes"], [{ replace: ['"********"', "canary-2"] }]);
    expect(second.exitCode, second.stderr).toBe(0);
    expect(`${second.stdout}${second.stderr}`).not.toContain("canary");
    expect((await fleet.app.services.config.current()).smtp_settings.password).toBe("canary-2");
  });

  it("edits a single setting, a list and agent options", async () => {
    const fleet = await startFleet();
    expect((await edit(fleet, ["org_info.org_name", "--yes"], [{ write: "New Name\n" }])).exitCode).toBe(0);
    const list = "- {url: 'https://t.example.com', username: u, api_token: t-1, project_key: P}\n";
    expect((await edit(fleet, ["integrations.ticketing_a", "--yes"], [{ write: list }])).exitCode).toBe(0);
    const options = "config:\n  options:\n    distributed_interval: 77\n";
    expect((await edit(fleet, ["agent_options", "--yes"], [{ write: options }])).exitCode).toBe(0);
    expect(await configOf(fleet)).toMatchObject({
      org_info: { org_name: "New Name" },
      integrations: { ticketing_a: [{ project_key: "P", api_token: "********" }] },
      agent_options: { config: { options: { distributed_interval: 77 } } },
    });
    // A map that is gone from the document is empty afterwards.
    expect((await configOf(fleet)).agent_options).toEqual({
      config: { options: { distributed_interval: 77 } },
      overrides: {},
    });
    const flags = "config: {}\noverrides: {}\nscript_execution_timeout: 60\ncommand_line_flags: {verbose: true}\n";
    expect((await edit(fleet, ["agent_options", "--yes"], [{ write: flags }])).exitCode).toBe(0);
    const fewer = "script_execution_timeout: 60\n";
    expect((await edit(fleet, ["agent_options", "--yes"], [{ write: fewer }])).exitCode).toBe(0);
    expect((await configOf(fleet)).agent_options).toEqual({
      config: {},
      overrides: {},
      script_execution_timeout: 60,
      command_line_flags: {},
    });
  });

  it("opens the file again with the error, until it is valid", async () => {
    const fleet = await startFleet();
    const { exitCode, stderr, seen } = await edit(
      fleet,
      ["host_expiry_settings", "--yes"],
      [
        { write: "host_expiry_enabled: [true\n" },
        { write: "host_expiry_enabled: true\nhost_expiry_window: 0\n" },
        { write: "host_expiry_enabled: true\n" },
        { write: "host_expiry_enabled: true\nhost_expiry_window: 5\nnope: 1\n" },
        { write: "host_expiry_enabled: true\nhost_expiry_window: 5\n" },
      ],
    );
    expect(exitCode, stderr).toBe(0);
    expect(seen.map(({ text }) => text.split("\n")[0])).toEqual([
      expect.stringMatching(/^# host_expiry_settings\. Save and exit/),
      expect.stringMatching(/^# Not changed: Flow sequence/),
      expect.stringMatching(/^# Not changed: host_expiry_settings.host_expiry_window: must be greater than 0/),
      expect.stringMatching(/^# Not changed: host_expiry_settings.host_expiry_window: a setting cannot be removed/),
      expect.stringMatching(/^# Not changed: host_expiry_settings.nope: unsupported key provided: "nope"/),
    ]);
    expect((await configOf(fleet)).host_expiry_settings).toEqual({ host_expiry_enabled: true, host_expiry_window: 5 });
  });

  it("gives up with the reason if an invalid file is saved unchanged", async () => {
    const fleet = await startFleet();
    const before = await configOf(fleet);
    const wrong = "host_expiry_enabled: true\nhost_expiry_window: 0\n";
    const result = await edit(fleet, ["host_expiry_settings", "--yes"], [{ write: wrong }, { write: wrong }]);
    expect(result.exitCode).toBe(1);
    expect(result.seen).toHaveLength(2);
    expect(result.stderr).toContain("nothing was changed: host_expiry_settings.host_expiry_window: must be greater");
    expect(await configOf(fleet)).toEqual(before);
  });

  it("reports if nothing was changed, and changes nothing without confirmation", async () => {
    const fleet = await startFleet();
    const before = await configOf(fleet);
    const same = await edit(fleet, ["--yes"], [{}]);
    expect([same.exitCode, same.stderr, same.stdout]).toEqual([0, "nothing changed\n", ""]);
    const blank = await edit(
      fleet,
      ["org_info", "--yes"],
      [{ replace: ["org_name: Test", "org_name:   Test # same"] }],
    );
    expect([blank.exitCode, blank.stderr]).toEqual([0, "nothing changed\n"]);
    const no = await edit(fleet, [], [{ replace: ["24h", "8h"] }], { tty: true, answers: [false] });
    expect(no.exitCode).toBe(2);
    const dry = await edit(fleet, ["--dry-run", "-o", "json"], [{ replace: ["24h", "8h"] }]);
    expect(JSON.parse(dry.stdout)).toMatchObject({
      dry_run: true,
      changes: [{ field: "webhook_settings.interval", from: "24h", to: "8h" }],
    });
    const failed = await edit(fleet, ["--yes"], [{ replace: ["24h", "8h"], exit: 3 }]);
    expect(failed.exitCode).toBe(1);
    expect(failed.stderr).toContain("the editor exited with 3");
    expect(await configOf(fleet)).toEqual(before);
  });

  it("does not overwrite another user's change", async () => {
    const fleet = await startFleet();
    let asked = 0;
    const result = await edit(fleet, ["--yes"], [{ replace: ["24h", "8h"] }], {
      send: async (url, init) => {
        const { pathname, search } = new URL(url);
        const reply = await fleet.app.raw(`${pathname}${search}`, init);
        if (init.method === "PATCH" && asked++ === 0)
          await fleet.app.patch("/config", { webhook_settings: { interval: "2h" } });
        return reply;
      },
    });
    expect(result.exitCode).toBe(5);
    expect(result.stderr).toContain("webhook_settings.interval");
    expect((await configOf(fleet)).webhook_settings.interval).toBe("2h");
  });

  it("needs an editor, a confirmation and a setting that can be changed", async () => {
    const fleet = await startFleet();
    const bare = await fleet.run(["config", "edit", "--yes"]);
    expect([bare.exitCode, bare.stderr]).toEqual([2, expect.stringContaining("EDITOR")]);
    const unsure = await edit(fleet, [], [{ replace: ["24h", "8h"] }]);
    expect([unsure.exitCode, unsure.seen.length, unsure.stderr]).toEqual([2, 0, expect.stringContaining("--yes")]);
    expect((await edit(fleet, ["license", "--yes"], [])).stderr).toContain("license cannot be changed here");
    expect((await edit(fleet, ["org_inf", "--yes"], [])).stderr).toContain("Did you mean org_info?");
    const reader = await fleet.app.post("/users/admin", {
      name: "R",
      email: "r@example.com",
      password: "plain-Sailing-42-times",
      api_only: true,
      admin_forced_password_reset: false,
      global_role: "observer",
    });
    const { token } = (await reader.json()) as { token: string };
    const denied = await edit(fleet, ["org_info", "--yes"], [{ replace: ["Test", "X"] }], {
      env: { SVC_API_TOKEN: token },
    });
    expect(denied.exitCode).toBe(4);
  });
});

describe("config get", () => {
  it("shows lists, and single values, of every section", async () => {
    const fleet = await startFleet();
    const entry = { url: "https://t.example.com", username: "u", api_token: "canary-1", project_key: "P" };
    expect((await fleet.app.patch("/config", { integrations: { ticketing_a: [entry] } })).status).toBe(200);
    const list = await fleet.run(["config", "get", "integrations.ticketing_a", "-o", "json"]);
    expect(JSON.parse(list.stdout)).toMatchObject([{ project_key: "P", api_token: "********" }]);
    expect((await fleet.run(["config", "get", "integrations.ticketing_a"])).stdout).toContain("https://t.example.com");
    expect((await fleet.run(["config", "get", "smtp_settings.port"])).stdout).toBe("587\n");
    expect((await fleet.run(["config", "get", "scripts", "-o", "json"])).stdout.trim()).toBe("[]");
    expect((await fleet.run(["config", "get", "-o", "yaml"])).stdout).not.toContain("canary");
  });
});

describe("config set", () => {
  it("reads a secret only from a file or stdin", async () => {
    const fleet = await startFleet();
    const bare = await fleet.run(["config", "set", "smtp_settings.password=canary-1"]);
    expect([bare.exitCode, bare.stderr]).toEqual([2, expect.stringContaining("smtp_settings.password=@FILE")]);
    expect(bare.stderr).not.toContain("canary");
    for (const one of [
      'integrations={"ticketing_b":[{"api_token":"canary-1"}]}',
      "integrations.ticketing_b.0.api_token=x",
    ])
      expect((await fleet.run(["config", "set", one])).stderr, one).toMatch(/contains secrets\n.*=@FILE/);
    const given = await fleet.run(["config", "set", "smtp_settings.password=@-"], { stdin: "canary-2\n" });
    expect(given.exitCode, given.stderr).toBe(0);
    expect((await fleet.app.services.config.current()).smtp_settings.password).toBe("canary-2");
    expect((await fleet.run(["config", "set", "smtp_settings.password="])).exitCode).toBe(0);
    expect((await fleet.app.services.config.current()).smtp_settings.password).toBe("");
  });
});

describe("teams get and update 0", () => {
  it("apply to hosts without a team", async () => {
    const fleet = await startFleet();
    const input = ["--input", "-"];
    const stdin = "webhook_settings:\n  failing_policies_webhook: {host_batch_size: 7}\n";
    const dry = await fleet.run(["teams", "update", "0", ...input, "--dry-run", "-o", "json"], { stdin });
    expect(JSON.parse(dry.stdout)).toMatchObject({ dry_run: true, target: { id: 0 } });
    expect((await fleet.run(["teams", "update", "no team", ...input], { stdin })).exitCode).toBe(0);
    expect(JSON.parse((await fleet.run(["teams", "get", "none", "-o", "json"])).stdout)).toMatchObject({
      id: 0,
      webhook_settings: { failing_policies_webhook: { host_batch_size: 7 } },
    });
    expect((await fleet.run(["teams", "update", "0", "--description", "x"])).exitCode).toBe(2);
  });
});
