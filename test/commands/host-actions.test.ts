// svc hosts lock, unlock and wipe, and the commands of a host's own page, with the real app.
import { beforeEach, describe, expect, it } from "vitest";
import { makeSecret } from "../edge/agent/agents.ts";
import { enrollAndroid, startAndroid, turnAndroidOn } from "../support/android.ts";
import { turnOnAppleMdm } from "../support/apple.ts";
import { enrolledDevice } from "../support/apple-device.ts";
import { sendInto } from "../support/cli.ts";
import { type Fleet, startFleet } from "../support/fleet.ts";
import { makeHost } from "../support/make.ts";
import { type ManagedAgent, makeManaged } from "../support/managed.ts";

let fleet: Fleet;
beforeEach(async () => {
  fleet = await startFleet();
});

const managed = (name: string): Promise<ManagedAgent> =>
  makeManaged(fleet.app, { hostname: name, computer_name: name, hardware_uuid: `uuid of ${name}` });

/** The host sends the result of its script at the nth poll of a waiting command; each poll is a GET of the host. */
function answering(agents: readonly ManagedAgent[], { at = 2, exit = 0, said = "" } = {}) {
  const send = sendInto(fleet.app);
  let looks = 0;
  return async (...[url, init]: Parameters<typeof send>) => {
    if (init.method === "GET" && /\/hosts\/\d+\?/.test(url) && ++looks === at)
      for (const agent of agents) if ((await agent.pending()).length > 0) await agent.runScript(exit, said);
    return send(url, init);
  };
}

describe("hosts lock", () => {
  it("asks y or N for one host, or accepts --yes", async () => {
    await managed("box-1");
    const no = await fleet.run(["hosts", "lock", "box-1"], { tty: true, answers: [false] });
    expect([no.exitCode, no.asked]).toEqual([2, ["Lock box-1?"]]);
    const silent = await fleet.run(["hosts", "lock", "box-1"]);
    expect(silent.exitCode).toBe(2);
    expect(silent.stderr).toContain("--yes");
    expect(await fleet.app.store.operations.count()).toBe(0);
    const yes = await fleet.run(["hosts", "lock", "box-1", "--yes"]);
    expect(yes.exitCode).toBe(0);
    expect(yes.stderr).toContain("box-1: lock is pending");
    expect(yes.stdout).toMatch(/box-1\s+pending\s+unlocked\s+lock/);
  });

  it("accepts --confirm with the count for several; --yes is not enough", async () => {
    await managed("box-1");
    await managed("box-2");
    const argv = ["hosts", "lock", "box-1", "box-2"];
    expect((await fleet.run([...argv, "--yes"])).exitCode).toBe(2);
    expect((await fleet.run([...argv, "--confirm", "3"])).exitCode).toBe(2);
    expect(await fleet.app.store.operations.count()).toBe(0);
    const { exitCode, stdout } = await fleet.run([...argv, "--confirm", "2", "-o", "json"]);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([
      { host: "box-1", outcome: "pending", device_status: "unlocked", pending_action: "lock" },
      { host: "box-2", outcome: "pending", device_status: "unlocked", pending_action: "lock" },
    ]);
  });

  it("waits until an Android device has locked its screen, which does not stay locked", async () => {
    const service = await startAndroid();
    fleet = await startFleet({ settings: service.settings });
    const { app } = fleet;
    service.now = () => new Date(app.clock.now());
    const secret = await makeSecret(app, "secret-of-android");
    await turnAndroidOn(app, service);
    await enrollAndroid(app, service, { id: "d1", secret });
    const argv = ["hosts", "lock", "ESID-d1", "--yes", "--wait", "-o", "json"];
    const send = sendInto(app);
    let isAnswered = false;
    const { exitCode, stdout } = await fleet.run(argv, {
      send: async (...[url, init]) => {
        if (init.method === "GET" && /\/hosts\/\d+\?/.test(url) && !isAnswered) {
          await expect.poll(() => app.store.androidCommands.count(), { timeout: 20_000 }).toBe(1);
          const { operation: name } = service.commands[0]!;
          isAnswered = (await service.send(app, "COMMAND", { name, done: true })).status === 200;
        }
        return send(url, init);
      },
    });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([{ outcome: "done", device_status: "unlocked", pending_action: "" }]);
  });

  it("says why a host cannot be locked, in no word of the API", async () => {
    const { exitCode, stderr } = await fleet.run(["hosts", "lock", "linux-1.example.com", "--yes"]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("linux-1.example.com has no managed agent");
    expect(stderr).not.toContain("host_id");
  });

  it("requires --all-hosts if all hosts are selected", async () => {
    const names = ["mac-1.example.com", "linux-1.example.com", "win-1.example.com"];
    const { exitCode, stderr } = await fleet.run(["hosts", "lock", ...names, "--confirm", "3"]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("--all-hosts");
    const all = await fleet.run(["hosts", "lock", ...names, "--all-hosts", "--dry-run", "-o", "json"]);
    expect(all.stderr).not.toContain("not both");
    expect(all.stderr).toContain("managed agent");
  });

  it("selects hosts with --where or --all-hosts, and lists them before it asks for their number", async () => {
    for (const name of ["box-1", "box-2"]) await managed(name);
    const where = ["hosts", "lock", "--where", "hostname ~ box"];
    const no = await fleet.run(where, { tty: true, answers: ["3"] });
    expect([no.exitCode, no.asked]).toEqual([2, ["Lock 2 hosts? Type 2 to confirm:"]]);
    for (const name of ["box-1", "box-2"]) expect(no.stderr).toContain(`  ${name} (`);
    expect((await fleet.run([...where, "--yes"])).exitCode).toBe(2);
    expect(await fleet.app.store.operations.count()).toBe(0);
    const { exitCode, stdout } = await fleet.run([...where, "--confirm", "2", "-o", "json"]);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([{ host: "box-1" }, { host: "box-2" }]);
    const dry = ["hosts", "lock", "--dry-run"];
    expect((await fleet.run([...dry, "--all-hosts"])).stdout).toMatch(
      /^would lock 5 hosts\n {2}mac-1\.example\.com \(1\)\n/,
    );
    for (const [argv, exit, stderr] of [
      [[], 2, "no hosts are given"],
      [["box-1", "--where", "hostname ~ box"], 2, "not both"],
      [["--where", "hostname ~ nothing"], 3, "no host matches"],
      [["--where", "id > 0"], 2, "--all-hosts"],
      [["--where", "label in (Typo)"], 2, "Typo"],
    ] as const) {
      const run = await fleet.run([...dry, ...argv]);
      expect([argv, run.exitCode, run.stderr]).toEqual([argv, exit, expect.stringContaining(stderr)]);
    }
  });

  it("changes nothing in a dry run, which needs no confirmation", async () => {
    await managed("box-1");
    const { exitCode, stdout } = await fleet.run(["hosts", "lock", "box-1", "--dry-run"]);
    expect([exitCode, stdout]).toEqual([0, "would lock box-1\n"]);
    const plan = JSON.parse((await fleet.run(["hosts", "lock", "box-1", "--dry-run", "-o", "json"])).stdout);
    expect(plan).toMatchObject({ dry_run: true, target: [{ display_name: "box-1", device_status: "unlocked" }] });
    expect(await fleet.app.store.operations.count()).toBe(0);
  });

  it("reports the server's refusal, with its exit code", async () => {
    const bare = await fleet.run(["hosts", "lock", "linux-1.example.com", "--yes"]);
    expect(bare.exitCode).toBe(1);
    expect(bare.stderr).toContain("managed agent");
    const agent = await managed("box-1");
    await fleet.run(["hosts", "lock", "box-1", "--yes"]);
    await agent.runScript();
    const again = await fleet.run(["hosts", "lock", "box-1", "--yes"]);
    expect(again.exitCode).toBe(5);
    expect(again.stderr).toContain("already locked");
    expect((await fleet.run(["hosts", "lock", "nobody", "--yes"])).exitCode).toBe(3);
  });

  it("reports the result of each host, with exit code 6 if some refused", async () => {
    await managed("box-1");
    const argv = ["hosts", "lock", "box-1", "linux-1.example.com", "--confirm", "2", "-o", "json"];
    const { exitCode, stdout, stderr } = await fleet.run(argv);
    expect(exitCode).toBe(6);
    expect(JSON.parse(stdout)).toMatchObject([
      { host: "box-1", outcome: "pending" },
      { host: "linux-1.example.com", outcome: "failed", reason: expect.stringContaining("managed agent") },
    ]);
    expect(stderr).toContain("1 of 2 hosts failed");
  });

  it("waits until the host has locked itself", async () => {
    const agent = await managed("box-1");
    const argv = ["hosts", "lock", "box-1", "--yes", "--wait"];
    const { exitCode, stdout, waits } = await fleet.run(argv, { send: answering([agent], { at: 3 }) });
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/box-1\s+done\s+locked/);
    expect(waits.length).toBeGreaterThanOrEqual(2);
  });

  it("fails with the output of the host", async () => {
    const agent = await managed("box-1");
    const argv = ["hosts", "lock", "box-1", "--yes", "--wait"];
    const { exitCode, stderr } = await fleet.run(argv, {
      send: answering([agent], { exit: 4, said: "no\u001b[2J room" }),
    });
    expect(exitCode).toBe(1);
    expect(stderr).toContain("the lock script ended with exit code 4: no\\u001b[2J room");
    expect(stderr).not.toContain("\u001b[2J");
  });

  it("exits with 7 if the host has not reported in time", async () => {
    await managed("box-1");
    const { exitCode, stderr, waits } = await fleet.run([
      "hosts",
      "lock",
      "box-1",
      "--yes",
      "--wait",
      "--timeout",
      "20s",
    ]);
    expect(exitCode).toBe(7);
    expect(stderr).toContain("still pending");
    expect(waits.reduce((sum, ms) => sum + ms, 0)).toBe(20_000);
    const bad = await fleet.run(["hosts", "lock", "box-1", "--wait", "--timeout", "soon"]);
    expect(bad.exitCode).toBe(2);
  });

  it("reports if the lock was cancelled or the host was deleted in the meantime", async () => {
    const agent = await managed("box-1");
    const send = sendInto(fleet.app);
    let looks = 0;
    const cancelled = await fleet.run(["hosts", "lock", "box-1", "--yes", "--wait"], {
      send: async (url, init) => {
        if (/\/hosts\/\d+\?/.test(url) && ++looks === 2) await agent.enroll();
        return send(url, init);
      },
    });
    expect(cancelled.exitCode).toBe(1);
    expect(cancelled.stderr).toContain("was cancelled");
    looks = 0;
    const { id } = await agent.host();
    const deleted = await fleet.run(["hosts", "lock", "box-1", "--yes", "--wait"], {
      send: async (url, init) => {
        if (/\/hosts\/\d+\?/.test(url) && ++looks === 2) await fleet.app.delete(`/hosts/${id}`);
        return send(url, init);
      },
    });
    expect(deleted.exitCode).toBe(1);
    expect(deleted.stderr).toContain("was deleted");
  });
});

describe("hosts unlock and wipe", () => {
  it("unlock needs no confirmation for one host, and can wait", async () => {
    const agent = await managed("box-1");
    await fleet.run(["hosts", "lock", "box-1", "--yes"]);
    await agent.runScript();
    const { exitCode, stdout } = await fleet.run(["hosts", "unlock", "box-1", "--wait"], { send: answering([agent]) });
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/box-1\s+done\s+unlocked/);
  });

  it("wipe requires the name itself: it has no flag --yes", async () => {
    const agent = await managed("box-1");
    const send = answering([agent]);
    expect((await fleet.run(["hosts", "wipe", "box-1", "--yes"])).exitCode).toBe(2);
    const silent = await fleet.run(["hosts", "wipe", "box-1"]);
    expect(silent.exitCode).toBe(2);
    expect(silent.stderr).toContain("--confirm box-1");
    expect((await fleet.run(["hosts", "wipe", "box-1", "--confirm", "1"])).exitCode).toBe(2);
    expect((await fleet.run(["hosts", "wipe", "box-1"], { tty: true, answers: ["box-2"] })).exitCode).toBe(2);
    expect(await fleet.app.store.operations.count()).toBe(0);
    const done = await fleet.run(["hosts", "wipe", "box-1", "--wait"], { tty: true, answers: ["box-1"], send });
    expect(done.exitCode).toBe(0);
    expect(done.stdout).toMatch(/box-1\s+done\s+wiped/);
  });
});

describe("a Mac in device management", () => {
  it("is locked with a PIN, which unlock shows, and waits for whoever enters it", async () => {
    await turnOnAppleMdm(fleet.app);
    const { device } = await enrolledDevice(fleet.app, { DeviceName: "lab-mac" });
    const lock = await fleet.run(["hosts", "lock", "lab-mac", "--yes", "--view-pin", "-o", "json"]);
    const [{ unlock_pin: pin }] = JSON.parse(lock.stdout) as [{ unlock_pin: string }];
    expect([lock.exitCode, pin]).toEqual([0, expect.stringMatching(/^\d{6}$/)]);
    await device.answer((await device.idle())!.uuid, "Acknowledged");
    const shown = await fleet.run(["hosts", "unlock", "lab-mac"]);
    expect(shown.exitCode).toBe(0);
    expect(shown.stdout).toContain(pin);
    expect(shown.stderr).toContain(`lab-mac: enter the PIN ${pin} on the Mac to unlock it`);

    const send = sendInto(fleet.app);
    let looks = 0;
    const entered: typeof send = async (url, init) => {
      if (init.method === "GET" && /\/hosts\/\d+\?/.test(url) && ++looks === 2) {
        fleet.app.clock.advance(5_000);
        await device.idle();
      }
      return send(url, init);
    };
    const waited = await fleet.run(["hosts", "unlock", "lab-mac", "--wait"], { send: entered });
    expect([waited.exitCode, looks]).toEqual([0, 2]);
    expect(waited.stdout).toMatch(/lab-mac\s+done\s+unlocked/);
  });

  it("is asked to leave device management, which unenroll reports", async () => {
    const { device } = await enrolledDevice(fleet.app, { DeviceName: "lab-mac" });
    const asked = await fleet.run(["hosts", "unenroll", "lab-mac", "--yes"]);
    expect([asked.exitCode, asked.stdout + asked.stderr]).toEqual([
      0,
      expect.stringContaining("lab-mac: device management is turned off when the device answers"),
    ]);
    await device.answer((await device.idle())!.uuid, "Acknowledged");
    const again = await fleet.run(["hosts", "unenroll", "lab-mac", "--yes"]);
    expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining("device management is not turned on")]);
  });
});

describe("device", () => {
  const token = "0b0d1f6e-6a0f-4d0f-9a6a-5d1c6d2f3a11";
  const nobody = {
    SVC_CONTEXT: "",
    SVC_API_TOKEN: "",
    XDG_CONFIG_HOME: "/nowhere",
    SVC_SERVER_URL: "http://svc.example",
  };

  it("shows a host to its user, who has no account", async () => {
    const agent = await managed("box-1");
    await agent.call("/device_token", { device_auth_token: token });
    for (const topic of ["show", "desktop", "policies", "software", "device-mapping", "certificates", "refetch"]) {
      const { exitCode, stderr } = await fleet.run(["device", topic, "--token-stdin"], {
        stdin: `${token}\n`,
        env: nobody,
      });
      expect(exitCode, `${topic}: ${stderr}`).toBe(0);
    }
    const { stdout } = await fleet.run(["device", "show", token, "-o", "json"], { env: nobody });
    expect(JSON.parse(stdout)).toMatchObject({ hostname: "box-1", self_service: false });
  });

  it("reports an invalid or missing token", async () => {
    await makeHost(fleet.app);
    const unknown = await fleet.run(["device", "show", token]);
    expect([unknown.exitCode, unknown.stderr]).toEqual([
      4,
      expect.stringContaining("the token does not belong to a host"),
    ]);
    expect(unknown.stderr).not.toContain("svc login");
    const missing = await fleet.run(["device", "show"]);
    expect([missing.exitCode, missing.stderr]).toEqual([2, expect.stringContaining("--token-stdin")]);
    expect((await fleet.run(["device", "show", token, "--token-stdin"], { stdin: token })).exitCode).toBe(2);
  });
});

describe("commands that wait for an Apple device", () => {
  type Device = Awaited<ReturnType<typeof enrolledDevice>>["device"];
  /** The device gets its commands, and answers them, at the second request to this path. */
  function answeredBy(device: Device, path: RegExp, Status: string, fields = {}) {
    const send = sendInto(fleet.app);
    let looks = 0;
    return async (...[url, init]: Parameters<typeof send>) => {
      if (init.method === "GET" && path.test(url) && ++looks === 2)
        for (let command = await device.idle(); command; ) command = await device.answer(command.uuid, Status, fields);
      return send(url, init);
    };
  }

  it("report that the passcode is cleared, or why it is not", async () => {
    await turnOnAppleMdm(fleet.app);
    const { device } = await enrolledDevice(fleet.app, { DeviceName: "lab-phone", ProductName: "iPhone15,2" });
    // Details for which the device was asked when it enrolled.
    for (let command = await device.idle(); command; ) command = await device.answer(command.uuid, "Error");
    for (const [status, code, text] of [
      ["Acknowledged", 0, "the passcode was cleared"],
      ["Error", 1, "the device answered Error"],
    ] as const) {
      const send = answeredBy(device, /\/commands\?/, status);
      const { exitCode, stderr } = await fleet.run(["hosts", "clear-passcode", "lab-phone", "--yes", "--wait"], {
        send,
      });
      expect([exitCode, stderr]).toEqual([code, expect.stringContaining(text)]);
    }
  });

  it("report that a device has left device management, or has refused", async () => {
    await turnOnAppleMdm(fleet.app);
    const { device } = await enrolledDevice(fleet.app, { DeviceName: "lab-mac" });
    const unenroll = ["hosts", "unenroll", "lab-mac", "--yes", "--wait"];
    for (const [status, code, text] of [
      ["Error", 1, "lab-mac is still managed"],
      ["Acknowledged", 0, "lab-mac: device management is off"],
    ] as const) {
      const send = answeredBy(device, /\/hosts\/\d+\?/, status);
      const { exitCode, stdout, stderr } = await fleet.run(unenroll, { send });
      expect([exitCode, stdout + stderr]).toEqual([code, expect.stringContaining(text)]);
    }
  });

  it("report that a Mac has another password, which is then printed, or why it has not", async () => {
    await turnOnAppleMdm(fleet.app);
    await fleet.app.patch("/config", { mdm: { enable_recovery_lock_password: true } });
    const { device, id } = await enrolledDevice(fleet.app, { DeviceName: "lab-mac" });
    await expect.poll(() => fleet.app.store.recoveryLocks.get(id)).not.toBeNull();
    for (let command = await device.idle(); command; ) command = await device.answer(command.uuid, "Error");
    const rotate = ["hosts", "rotate-recovery-lock-password", "lab-mac", "--yes", "--wait"];
    const path = /\/hosts\/\d+\?/;
    const failed = await fleet.run(rotate, { send: answeredBy(device, path, "Error") });
    expect([failed.exitCode, failed.stderr]).toEqual([1, expect.stringContaining("The device answered Error")]);
    const done = await fleet.run(rotate, {
      send: answeredBy(device, path, "Acknowledged", { PasswordVerified: true }),
    });
    expect([done.exitCode, done.stderr]).toEqual([0, expect.stringContaining("was changed")]);
    const read = await fleet.run(["hosts", "recovery-lock-password", "lab-mac"]);
    const { password } = (await fleet.app.store.recoveryLocks.get(id))!;
    expect([read.exitCode, read.stdout.trim()]).toEqual([0, password]);
  });
});
