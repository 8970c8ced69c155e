// The selection that commands send to the server for hosts that they have shown, and commands whose action another
// admin must approve.
import { describe, expect, it } from "vitest";
import type { Send } from "../../src/client/transport.ts";
import { sendInto } from "../support/cli.ts";
import { type Fleet, startFleet } from "../support/fleet.ts";
import { makeHost, makeUser } from "../support/make.ts";

const names = ["mac-1.example.com", "linux-1.example.com", "win-1.example.com"] as const;
const left = ({ app }: Fleet) => app.store.hosts.count();

/** Records the headers of every request that changes something. */
function listening(fleet: Fleet) {
  const heard: Record<string, string>[] = [];
  const send: Send = (url, init) => {
    if (init.method !== "GET") heard.push(init.headers);
    return sendInto(fleet.app)(url, init);
  };
  return { heard, send };
}
const managed = async ({ app }: Fleet, hostname: string) => {
  const { id } = await makeHost(app, { hostname });
  await app.store.managedAgents.insert({ id, agent_key_hash: `of ${id}`, enrolled_at: app.clock.iso() });
  return id;
};

describe("commands that act on hosts", () => {
  it("always send which hosts were shown", async () => {
    // A server that requires these headers.
    const fleet = await startFleet({ settings: { require_expected_count: true } });
    const { heard, send } = listening(fleet);
    await managed(fleet, "box-1");
    await managed(fleet, "box-2");
    const counts = ["1", "2", "3", "1", "1", "1", "2", "1"];
    for (const argv of [
      ["transfer", names[0], "--to", "Lab"],
      ["transfer", names[0], names[1], "--to", "none", "--confirm", "2"],
      ["transfer", "--query", "example.com", "--to", "Lab", "--confirm", "3"],
      ["lock", "box-1", "--yes"],
      ["wipe", "box-2", "--confirm", "box-2"],
      ["delete", names[0], "--yes"],
      ["delete", "--query", "example.com", "--confirm", "2"],
      ["delete", "--query", "box-1", "--confirm", "1"],
    ]) {
      const { exitCode, stderr } = await fleet.run(["hosts", ...argv], { send });
      expect(exitCode, `${argv.join(" ")}: ${stderr}`).toBe(0);
    }
    expect(heard.map((headers) => headers["X-Expected-Count"])).toEqual(counts);
    for (const headers of heard) expect(headers["X-Selection-Digest"]).toMatch(/^[0-9a-f]{64}$/);
    expect(await left(fleet)).toBe(1);
    const bare = await fleet.run(["api", "POST", "/hosts/delete", "-F", "ids=[1]"]);
    expect(bare.exitCode).toBe(1);
    const [, digest] = (await fleet.run(["hosts", "count", "--digest"])).stdout.trim().split(" ");
    const said = ["-H", "X-Expected-Count: 1", "-H", `x-selection-digest:${digest}`];
    const raw = await fleet.run(["api", "POST", "/hosts/delete", "--input", "-", ...said], { stdin: "filters: {}" });
    expect(raw.exitCode, raw.stderr).toBe(0);
    expect(await left(fleet)).toBe(0);
    for (const wrong of ["none", "authorization: Bearer x", "a b: c"])
      expect((await fleet.run(["api", "GET", "/hosts", "-H", wrong])).exitCode).toBe(2);
  });

  it("change nothing and report it if the selected hosts have changed in the meantime", async () => {
    const fleet = await startFleet();
    const during = (change: () => Promise<unknown>, text: string) => ({
      tty: true,
      answers: [
        async () => {
          await change();
          return text;
        },
      ],
    });
    const more = () => makeHost(fleet.app, { hostname: "late.example.com" });
    const where = ["--where", "hostname ~ example"];
    const grown = await fleet.run(["hosts", "delete", ...where, "--all-hosts"], during(more, "3"));
    expect(grown.exitCode).toBe(5);
    expect(grown.stderr).toContain("the selection changed: 3 then, 4 now; check it and run again");
    const moved = await fleet.run(["hosts", "transfer", ...where, "--all-hosts", "--to", "Lab"], during(more, "4"));
    expect(moved.exitCode).toBe(5);
    expect(moved.stderr).toContain("the selection changed: 4 then, 5 now");
    const swap = async () => {
      await fleet.app.store.hosts.delete({ op: "eq", column: "id", value: 1 });
      await makeHost(fleet.app, { hostname: "other.example.com" });
    };
    const swapped = await fleet.run(["hosts", "delete", ...where, "--all-hosts"], during(swap, "5"));
    expect([swapped.exitCode, swapped.stderr]).toEqual([
      5,
      expect.stringContaining("5 then, 5 now, but different ones"),
    ]);
    const gone = () => fleet.app.store.hosts.delete({ op: "eq", column: "id", value: 2 });
    const named = await fleet.run(["hosts", "delete", names[1], names[2]], during(gone, "2"));
    expect([named.exitCode, named.stderr]).toEqual([5, expect.stringContaining("2 then, 1 now")]);
    expect(await left(fleet)).toBe(4);
    expect(await fleet.app.store.activities.count({ op: "eq", column: "type", value: "transferred_hosts" })).toBe(0);
  });

  it("count and digest any number of hosts in two requests", async () => {
    const fleet = await startFleet();
    for (let i = 0; i < 30; i++) await makeHost(fleet.app, { hostname: `many-${i}.example.net` });
    const asked: string[] = [];
    const send: Send = (url, init) => {
      asked.push(`${init.method} ${new URL(url).pathname.replace("/api/v1/svc", "")}`);
      return sendInto(fleet.app)(url, init);
    };
    const { exitCode, stderr } = await fleet.run(["hosts", "delete", "--query", "example.net", "--confirm", "30"], {
      send,
    });
    expect(exitCode, stderr).toBe(0);
    expect(asked).toEqual(["GET /hosts", "GET /hosts/count", "GET /hosts/count", "POST /hosts/delete"]);
    expect(stderr).toContain("and 20 more");
    expect(await left(fleet)).toBe(3);
    const { stdout } = await fleet.run(["hosts", "count", "--digest", "--may", "delete"]);
    expect(stdout).toMatch(/^3 [0-9a-f]{64}\n$/);
  });
});

describe("approvals", () => {
  const start = async () => {
    const fleet = await startFleet({ settings: { require_approval: true } });
    const mia = await makeUser(fleet.app, "maintainer", { email: "mia@example.com", name: "Mia" });
    const asMia = (argv: string[]) => fleet.run(argv, { env: { SVC_API_TOKEN: mia.token } });
    return { fleet, asMia };
  };

  it("are requested by delete, with exit code 7, and granted by another admin who types the number", async () => {
    const { fleet, asMia } = await start();
    const argv = ["hosts", "delete", names[0], names[1], "--confirm", "2"];
    const asked = await asMia(argv);
    expect([asked.exitCode, asked.stdout]).toEqual([7, ""]);
    expect(asked.stderr).toContain("needs approval: svc approvals approve 1 by another admin");
    const json = await asMia([...argv, "-o", "json"]);
    expect([json.exitCode, JSON.parse(json.stdout)]).toMatchObject([
      7,
      { deleted: 0, approval: { id: 1, state: "pending", hosts_count: 2 } },
    ]);
    expect(JSON.parse(json.stderr.trim().split("\n").at(-1)!).error.code).toBe("pending");
    expect(await left(fleet)).toBe(3);

    const own = await asMia(["approvals", "approve", "1", "--confirm", "2"]);
    expect([own.exitCode, own.stderr]).toEqual([4, expect.stringContaining("another user must approve it")]);
    const list = await fleet.run(["approvals", "list", "--state", "pending"]);
    expect(list.stdout).toMatch(/1\s+pending\s+delete_hosts\s+2\s+mia@example.com/);
    expect(JSON.parse((await fleet.run(["approvals", "get", "1", "-o", "json"])).stdout)).toMatchObject({
      hosts: [{ display_name: names[0] }, { display_name: names[1] }],
      may_decide: true,
    });
    const dry = await fleet.run(["approvals", "approve", "1", "--dry-run"]);
    expect([dry.exitCode, dry.stdout]).toEqual([0, "would delete 2 hosts, requested by mia@example.com\n"]);
    expect((await fleet.run(["approvals", "approve", "1"])).exitCode).toBe(2);
    expect((await fleet.run(["approvals", "approve", "1", "--confirm", "3"])).exitCode).toBe(2);
    expect(await left(fleet)).toBe(3);
    const given = await fleet.run(["approvals", "approve", "1"], { tty: true, answers: ["2"] });
    expect(given.exitCode, given.stderr).toBe(0);
    expect(given.asked[0]).toContain("Approve: delete 2 hosts, requested by mia@example.com? Type 2 to confirm");
    expect(given.stderr).toContain(`  ${names[1]} (2)`);
    expect(await left(fleet)).toBe(1);
    expect((await fleet.run(["approvals", "approve", "1", "--confirm", "2"])).exitCode).toBe(5);
    expect((await fleet.run(["approvals", "approve", "7", "--confirm", "2"])).exitCode).toBe(3);
  });

  it("are requested by wipe, once for all hosts, and wipe does not wait", async () => {
    const { fleet, asMia } = await start();
    await managed(fleet, "box-1");
    await managed(fleet, "box-2");
    const one = await asMia(["hosts", "wipe", "box-1", "--confirm", "box-1", "--wait"]);
    expect([one.exitCode, one.waits]).toEqual([7, []]);
    expect(one.stderr).toContain("needs approval: svc approvals approve 1 by another admin");
    const reason = ["--reason", "office closed"];
    const two = await asMia(["hosts", "wipe", "box-1", "box-2", "--confirm", "2", "-o", "json", ...reason]);
    expect(two.exitCode).toBe(7);
    const [first] = JSON.parse(two.stdout) as { approval_id: number }[];
    const approval_id = first!.approval_id;
    expect(JSON.parse(two.stdout)).toMatchObject([
      { host: "box-1", outcome: "pending", pending_action: "", approval_id },
      { host: "box-2", outcome: "pending", pending_action: "", approval_id },
    ]);
    expect(await fleet.app.store.operations.count()).toBe(0);
    const given = await fleet.run(["approvals", "approve", String(approval_id), "--confirm", "2"]);
    expect(given.exitCode, given.stderr).toBe(0);
    expect(given.stderr).toContain("approved: wipe 2 hosts, requested by mia@example.com: office closed (done)");
    expect(await fleet.app.store.operations.count()).toBe(2);
  });

  it("are denied with a reason, or withdrawn", async () => {
    const { fleet, asMia } = await start();
    await asMia(["hosts", "delete", names[0], names[1], "--confirm", "2"]);
    expect((await fleet.run(["approvals", "deny", "1"])).exitCode).toBe(2);
    const dry = await fleet.run(["approvals", "deny", "1", "--dry-run"]);
    expect([dry.exitCode, dry.stdout]).toEqual([0, "would deny: delete 2 hosts, requested by mia@example.com\n"]);
    const denied = await fleet.run(["approvals", "deny", "1"], { tty: true, answers: ["in use"] });
    expect(denied.exitCode).toBe(0);
    const got = JSON.parse((await asMia(["approvals", "get", "1", "-o", "json"])).stdout);
    expect(got).toMatchObject({ state: "denied", reason: "in use", decided_by: { email: "ada@example.com" } });
    expect((await fleet.run(["approvals", "approve", "1", "--confirm", "2"])).exitCode).toBe(5);
    await asMia(["hosts", "delete", names[0], names[2], "--confirm", "2"]);
    expect((await asMia(["approvals", "deny", "2", "--reason", "a mistake"])).exitCode).toBe(0);
    expect(await left(fleet)).toBe(3);
  });

  it("report that the selected hosts have changed", async () => {
    const { fleet, asMia } = await start();
    expect((await asMia(["hosts", "delete", "--all-hosts", "--confirm", "3"])).exitCode).toBe(7);
    await makeHost(fleet.app);
    const late = await fleet.run(["approvals", "approve", "1", "--confirm", "3"]);
    expect([late.exitCode, late.stderr]).toEqual([5, expect.stringContaining("expected 3 hosts, found 4")]);
    expect(await left(fleet)).toBe(4);
  });
});
