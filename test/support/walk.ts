// Follows a page of documentation like a new user: each shell command on it is run in the order of the page, in an
// empty folder.
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cleanEnv } from "../../bench/support/serve.ts";
import { root } from "./cli.ts";
import { afterEveryFile } from "./ends.ts";

/** One command of a page, and its expected result. */
export interface Step {
  /** The command on the page. */
  readonly command: string;
  /** Expected output, on either stream. */
  readonly prints?: RegExp;
  /** Why it is not run here. */
  readonly skip?: string;
  /** The command keeps running: the next one follows once it has printed `prints`, or immediately without `prints`. */
  readonly isServing?: boolean;
  /** Ctrl-C in every other terminal, before it. */
  readonly stopsOthers?: boolean;
  /** The command is repeated until it prints this, because the data arrives with a host's next check-in. */
  readonly isRepeated?: boolean;
  /** The exit code, if it is not 0. */
  readonly code?: number;
}

/** The commands of the page's `sh` blocks. */
export function commandsOn(page: string): string[] {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(/^ *```sh\n(.*?)^ *```$/gms)].flatMap(([, block]) =>
    block!
      .replace(/\\\n\s*/g, "")
      .split("\n")
      .map((line) => line.replace(/\s+# .*$/, "").trim())
      .filter((line) => line !== "" && !line.startsWith("#")),
  );
}

interface Ran {
  readonly code: number | null;
  readonly output: string;
}

export interface Walk {
  readonly folder: string;
  /** Runs one step; if the result differs from the expected one, rejects with everything that was printed. */
  take(step: Step): Promise<void>;
}

const running = new Set<ChildProcess>();
const folders: string[] = [];
afterEveryFile(async () => {
  for (const child of running) kill(child, "SIGKILL");
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** Ends the shell and the processes that it started. */
function kill(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-child.pid!, signal);
  } catch {
    // The process has already ended.
  }
}

const script = (text: string) => `#!/bin/sh\n${text}\n`;

/** A folder with `svc`, `npx svc` and `npm start` on the PATH; `replace` is applied to each command. */
export function startWalk(replace: (command: string) => string, env: Record<string, string>): Walk {
  const folder = mkdtempSync(join(tmpdir(), "svc-walk-"));
  folders.push(folder);
  const bin = join(folder, ".bin");
  mkdirSync(bin);
  const svc = `exec "${process.execPath}" "${join(root, "bin", "run.js")}"`;
  const programs = {
    svc: script(`${svc} "$@"`),
    npx: script(`[ "$1" = svc ] || exit 127\nshift\n${svc} "$@"`),
    // The test itself runs in an installed checkout, and test/e2e/serve.test.ts tests `npm start`.
    npm: script(`[ "$1" = install ] && exit 0\n[ "$1" = start ] || exit 127\n${svc} serve --quickstart`),
  };
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(bin, name), text);
    chmodSync(join(bin, name), 0o755);
  }
  const home = { HOME: folder, XDG_CONFIG_HOME: join(folder, ".config"), XDG_CACHE_HOME: join(folder, ".cache") };
  const base = { ...cleanEnv(), CI: "", PATH: `${bin}:${process.env.PATH}`, SVC_KEYRING: "off", ...home, ...env };

  const start = (step: Step): { child: ChildProcess; ended: Promise<Ran>; output: () => string } => {
    let output = "";
    const child = spawn("bash", ["-c", replace(step.command)], {
      cwd: folder,
      env: base,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    running.add(child);
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.on("data", (chunk) => {
        output += chunk;
      });
    }
    const ended = new Promise<Ran>((resolve) =>
      child.on("close", (code) => {
        running.delete(child);
        resolve({ code, output });
      }),
    );
    return { child, ended, output: () => output };
  };

  const failure = (step: Step, what: string, output: string) =>
    new Error(`${step.command}\n${what}; it printed:\n${output}`);

  async function serve(step: Step): Promise<void> {
    const { ended, output } = start(step);
    let end: Ran | undefined;
    void ended.then((ran) => {
      end = ran;
    });
    for (const until = Date.now() + 120_000; step.prints?.test(output()) === false; await pause()) {
      if (end) throw failure(step, `ended with ${end.code}`, output());
      if (Date.now() > until) throw failure(step, `did not print ${step.prints}`, output());
    }
  }

  async function once(step: Step): Promise<string | null> {
    const { code, output } = await start(step).ended;
    if (code !== (step.code ?? 0)) throw failure(step, `ended with ${code}`, output);
    return !step.prints || step.prints.test(output) ? null : output;
  }

  return {
    folder,
    async take(step) {
      if (step.stopsOthers) {
        const others = [...running];
        const ended = others.map((child) => new Promise((resolve) => child.once("close", resolve)));
        for (const child of others) kill(child, "SIGINT");
        await Promise.all(ended);
      }
      if (step.skip !== undefined) return;
      if (step.isServing) return serve(step);
      for (const until = Date.now() + 120_000; ; await pause()) {
        const unfit = await once(step);
        if (unfit === null) return;
        if (!step.isRepeated || Date.now() > until) throw failure(step, `did not print ${step.prints}`, unfit);
      }
    },
  };
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 50));
