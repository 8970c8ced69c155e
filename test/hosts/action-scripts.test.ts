// The scripts that lock and unlock Linux hosts, run in a folder that stands in for the root directory, with commands
// that only record their calls. Their PATH contains nothing else.
import { execFile, execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { linuxLock } from "../../src/server/hosts/host-actions/texts/linux-lock.ts";
import { linuxUnlock } from "../../src/server/hosts/host-actions/texts/linux-unlock.ts";
import { linuxWipe } from "../../src/server/hosts/host-actions/texts/linux-wipe.ts";
import { windowsLock } from "../../src/server/hosts/host-actions/texts/windows-lock.ts";
import { windowsUnlock } from "../../src/server/hosts/host-actions/texts/windows-unlock.ts";

let root: string;
let bin: string;
const at = (path: string) => join(root, path);
const read = (path: string) => readFileSync(at(path), "utf8");
const write = (path: string, text: string) => {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
};
const called = () => (existsSync(at("calls")) ? read("calls").trim().split("\n") : []);

function command(name: string, body: string): void {
  writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`);
  chmodSync(join(bin, name), 0o755);
}
const noted = (name: string, body = "") => command(name, `echo "${name} $*" >> "${root}/calls"\n${body}`);

/** Real tools that read and write files; everything else is a replacement. */
const tools = ["awk", "basename", "cat", "chmod", "cp", "cut", "grep", "mkdir", "rm", "sed", "sort", "tr", "wc"];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "svc-script-"));
  bin = join(root, "bin");
  mkdirSync(bin);
  for (const tool of tools)
    symlinkSync(
      execFileSync("/bin/sh", ["-c", `command -v ${tool}`])
        .toString()
        .trim(),
      join(bin, tool),
    );
  for (const folder of ["passwords", "etc"]) mkdirSync(at(folder));
  for (const [name, state] of Object.entries({ alice: "P", bob: "NP", carol: "L" })) write(`passwords/${name}`, state);
  command("id", "echo 0");
  command(
    "getent",
    `case "$2" in
      "") printf 'root:x:0:0::/root:/bin/sh\\nsvc:x:999:999::/:/bin/false\\nalice:x:1000:1000::/home/alice:/bin/sh\\nbob:x:1001:1001::/h:/bin/sh\\ncarol:x:59999:1::/h:/bin/sh\\nnobody:x:65534:1::/:/bin/false\\n' ;;
      *) [ -e "${root}/passwords/$2" ] ;;
    esac`,
  );
  // The real program exits with 3 for -u of an account that would have no password.
  noted(
    "passwd",
    `file="${root}/passwords/$2"; state=$(cat "$file")
    case "$1" in
      -S) case "$state" in L*) echo "$2 L" ;; *) echo "$2 $state" ;; esac ;;
      -l) printf 'L%s' "$state" > "$file" ;;
      -u) [ "$state" = LNP ] && exit 3; printf '%s' "$state" | cut -c2- | tr -d '\\n' > "$file" ;;
      -d) printf NP > "$file" ;;
    esac`,
  );
  for (const name of ["loginctl", "pkill", "shutdown"]) noted(name);
  command("who", "printf 'alice tty1\\nroot pts/0\\nroot pts/1\\n'");
  noted("systemctl", 'case "$1" in get-default) echo graphical.target ;; esac');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

interface Ran {
  readonly code: number;
  readonly out: string;
}

function run(script: string): Promise<Ran> {
  expect(script).toContain('\nROOT=""\n');
  const file = at("script.sh");
  writeFileSync(file, script.replace('\nROOT=""\n', `\nROOT="${root}"\n`));
  return new Promise((resolve) => {
    execFile("/bin/sh", [file], { cwd: root, env: { PATH: bin } }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), out: stdout + stderr }),
    );
  });
}

describe.each(["bash", "sh"])("for %s", (shell) => {
  it.each([
    ["lock", linuxLock],
    ["unlock", linuxUnlock],
    ["wipe", linuxWipe],
  ])("%s is valid", (_, script) => {
    execFileSync(shell, ["-n"], { input: script });
    for (const job of script.matchAll(/<< 'JOB_END'[^\n]*\n([\s\S]*?)\nJOB_END\n/g))
      execFileSync(shell, ["-n"], { input: job[1] });
  });
});

describe("the Linux lock", () => {
  it("locks people's accounts, ends all sessions, and keeps everybody out after restarts", async () => {
    expect(await run(linuxLock)).toEqual({ code: 0, out: "locked\n" });
    expect(["alice", "bob", "carol"].map((name) => read(`passwords/${name}`))).toEqual(["LP", "LNP", "L"]);
    expect(read("var/lib/svc-lock/accounts")).toBe("alice\nbob\n");
    for (const path of ["etc/nologin", "run/nologin"]) expect(read(path)).toContain("locked by its administrator");
    expect(read("etc/systemd/system/svc-lock.service")).toMatch(/Type=oneshot[\s\S]*\/run\/nologin/);
    const calls = called();
    for (const call of ["systemctl enable svc-lock.service", "systemctl mask systemd-user-sessions.service"])
      expect(calls).toContain(call);
    expect(calls.filter((call) => call.startsWith("loginctl"))).toEqual(
      ["alice", "bob", "carol", "root"].map((name) => `loginctl terminate-user ${name}`),
    );
    expect(calls.some((call) => /svc|nobody|carol -l|-l carol/.test(call) && call.startsWith("passwd -l"))).toBe(false);
    expect(calls.filter((call) => call.startsWith("shutdown"))).toEqual([]);
  });

  it("ends automatic sign-in, and the unlock restores it", async () => {
    const gdm = "# mine\n[daemon]\nAutomaticLoginEnable = true\nAutomaticLogin=alice\n";
    const lightdm = "[Seat:*]\nautologin-user=alice\n";
    const sddm = "[Autologin]\nUser=alice\nSession=plasma\n\n[Users]\nUser=kept\n";
    write("etc/gdm3/custom.conf", gdm);
    write("etc/lightdm/lightdm.conf.d/50-auto.conf", lightdm);
    write("etc/sddm.conf", sddm);
    write("etc/gdm/custom.conf", "[daemon]\n");
    await run(linuxLock);
    expect(read("etc/gdm3/custom.conf")).toBe(gdm.replace("AutomaticLoginEnable = true", "AutomaticLoginEnable=false"));
    expect(read("etc/lightdm/lightdm.conf.d/50-auto.conf")).toBe("[Seat:*]\n#autologin-user=\n");
    expect(read("etc/sddm.conf")).toBe(sddm.replace("User=alice", "User="));
    await run(linuxUnlock);
    expect(read("etc/gdm3/custom.conf")).toBe(gdm);
    expect(read("etc/lightdm/lightdm.conf.d/50-auto.conf")).toBe(lightdm);
    expect(read("etc/sddm.conf")).toBe(sddm);
    expect(read("etc/gdm/custom.conf")).toBe("[daemon]\n");
  });

  it("keeps the state of the first run when it runs a second time", async () => {
    write("etc/gdm3/custom.conf", "[daemon]\nAutomaticLoginEnable=true\n");
    await run(linuxLock);
    expect((await run(linuxLock)).code).toBe(0);
    expect(read("var/lib/svc-lock/accounts")).toBe("alice\nbob\n");
    await run(linuxUnlock);
    expect(read("etc/gdm3/custom.conf")).toContain("AutomaticLoginEnable=true");
    expect(read("passwords/alice")).toBe("P");
  });

  it("switches to text mode on Ubuntu with GDM, and back with the unlock", async () => {
    write("etc/os-release", 'NAME="Ubuntu"\nID=ubuntu\n');
    noted("systemctl", 'case "$1" in get-default) echo graphical.target ;; list-unit-files) echo gdm3.service ;; esac');
    await run(linuxLock);
    expect(called()).toEqual(expect.arrayContaining(["systemctl set-default multi-user.target", "shutdown -r +1"]));
    await run(linuxUnlock);
    expect(called()).toContain("systemctl set-default graphical.target");
  });

  it("fails with a message, and undoes the rest if an account could not be locked", async () => {
    const good = readFileSync(join(bin, "passwd"), "utf8");
    writeFileSync(join(bin, "passwd"), good.replace("-l)", "-l) [ $2 = bob ] && exit 1;"));
    write("etc/gdm3/custom.conf", "[daemon]\nAutomaticLoginEnable=true\n");
    const { code, out } = await run(linuxLock);
    expect(code).toBe(1);
    expect(out).toContain("FAILED: lock the account bob");
    expect(read("passwords/alice")).toBe("P");
    expect(read("etc/gdm3/custom.conf")).toContain("AutomaticLoginEnable=true");
    for (const path of ["etc/nologin", "run/nologin", "etc/systemd/system/svc-lock.service"])
      expect(existsSync(at(path)), path).toBe(false);
    expect(called()).toContain("systemctl unmask systemd-user-sessions.service");
  });

  it("needs root", async () => {
    command("id", "echo 1000");
    expect((await run(linuxLock)).code).toBe(1);
    expect((await run(linuxUnlock)).code).toBe(1);
    expect(called()).toEqual([]);
  });
});

describe("the Linux unlock", () => {
  it("restores every account, lets people in, and restarts", async () => {
    await run(linuxLock);
    expect(await run(linuxUnlock)).toEqual({ code: 0, out: "unlocked\n" });
    expect(["alice", "bob", "carol"].map((name) => read(`passwords/${name}`))).toEqual(["P", "NP", "L"]);
    for (const path of ["etc/nologin", "run/nologin", "var/lib/svc-lock", "etc/systemd/system/svc-lock.service"])
      expect(existsSync(at(path)), path).toBe(false);
    expect(called()).toEqual(
      expect.arrayContaining([
        "systemctl unmask systemd-user-sessions.service",
        "systemctl disable svc-lock.service",
        "shutdown -r +1",
      ]),
    );
  });

  it("skips accounts that no longer exist", async () => {
    await run(linuxLock);
    rmSync(at("passwords/alice"));
    expect((await run(linuxUnlock)).code).toBe(0);
  });

  it("fails if an account stays locked, keeps everybody out, and can be repeated", async () => {
    await run(linuxLock);
    const good = readFileSync(join(bin, "passwd"), "utf8");
    noted("passwd", "exit 1");
    const { code, out } = await run(linuxUnlock);
    expect([code, out]).toEqual([1, expect.stringContaining("FAILED: unlock the account alice")]);
    expect(existsSync(at("etc/nologin"))).toBe(true);
    expect(called().filter((call) => call.startsWith("shutdown"))).toEqual([]);
    writeFileSync(join(bin, "passwd"), good);
    expect((await run(linuxUnlock)).code).toBe(0);
  });
});

it("the Linux wipe erases only in the job that starts after its result was reported", () => {
  const [before, job, after] = linuxWipe.split(/^.*JOB_END.*$/m) as [string, string, string];
  expect(before + after).not.toMatch(/\brm\b|erase /);
  expect(job).toMatch(/^\s*#!\/bin\/sh\nsleep 20\n/);
  expect(job.indexOf("umount")).toBeLessThan(job.indexOf("erase /home"));
  for (const line of job.split("\n").filter((one) => one.includes("rm -rf")))
    expect(line).toContain("--one-file-system");
  expect(after).toMatch(/systemd-run[\s\S]*setsid/);
});

it("the Windows scripts have matching brackets, and disable and enable by the same list", () => {
  for (const script of [windowsLock, windowsUnlock]) {
    const open: string[] = [];
    const pairs: Record<string, string> = { "}": "{", ")": "(", "]": "[" };
    for (const sign of script.replace(/'[^']*'/g, "''").replace(/#.*$/gm, ""))
      if ("{([".includes(sign)) open.push(sign);
      else if (sign in pairs) expect(open.pop()).toBe(pairs[sign]);
    expect(open).toEqual([]);
    expect(script).toContain("'state.json'");
    expect(script).toMatch(/exit 0[\s\S]*exit 1/);
  }
});
