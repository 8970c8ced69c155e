import { beforeEach, describe, expect, it } from "vitest";
import { eq } from "../../src/server/platform/store/query.ts";
import { type Fleet, startFleet } from "../support/fleet.ts";

const MAC = "mac-1.example.com";
const KEY = "AAAA-BBBB-CCCC";

let fleet: Fleet;
beforeEach(async () => {
  fleet = await startFleet();
});
const run = (...argv: string[]) => fleet.run(["hosts", ...argv]);
const parsed = async (...argv: string[]) => JSON.parse((await run(...argv, "-o", "json")).stdout);

async function enroll(more: { connected_to_svc?: boolean } = {}): Promise<void> {
  const { store } = fleet.app;
  const solution = await store.mdmSolutions.insert({ name: "Jamf", server_url: "https://x.jamfcloud.com" });
  await store.hostMdm.insert({ id: 1, enrollment_status: "On (manual)", solution_id: solution.id, ...more });
}

describe("hosts health", () => {
  it("names failing policies and vulnerable software", async () => {
    const { store, clock } = fleet.app;
    const now = { created_at: clock.iso(), updated_at: clock.iso() };
    await store.policies.insert({
      ...now,
      scope: "global",
      name: "disk is encrypted",
      query: "SELECT 1",
      result_id: 9,
    });
    await store.hostPolicies.upsert([{ id: 1, passing: [], failing: [9], critical_count: 0, issues_count: 1 }], {
      on: ["id"],
    });
    const [firefox] = await store.software.list();
    await store.softwareCves.insert({ software_id: firefox!.id, cve: "CVE-2026-1" });
    const { stdout } = await run("health", MAC);
    expect(stdout).toMatch(/failing policies\s+1/);
    expect(stdout).toContain("disk is encrypted");
    expect(stdout).toMatch(/vulnerable software\s+Firefox 133\.0/);
    expect(await parsed("health", MAC)).toMatchObject({ failing_policies_count: 1 });
  });
});

describe("hosts mdm", () => {
  it("shows where a host is enrolled, or that it is not", async () => {
    const none = await run("mdm", MAC);
    expect(none).toMatchObject({ exitCode: 0, stdout: "" });
    expect(none.stderr).toContain(`${MAC} is not enrolled`);
    expect(await parsed("mdm", MAC)).toBeNull();
    await enroll();
    expect((await run("mdm", MAC)).stdout).toMatch(/product\s+Jamf/);
    expect(await parsed("mdm", MAC)).toMatchObject({ enrollment_status: "On (manual)", name: "Jamf" });
  });

  it.each([
    ["unenroll", MAC],
    ["mdm", MAC, "--off"],
  ])("%s turns it off after confirmation, and reports the server's reason if it cannot", async (...argv) => {
    await enroll();
    const refused = await run(...argv, "--yes");
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain("device management is not turned on");
    await fleet.app.store.hostMdm.update({ where: { op: "all" }, set: { connected_to_svc: true } });
    const status = async () => (await fleet.app.store.hostMdm.get(1))?.enrollment_status;
    expect((await run(...argv)).exitCode).toBe(2);
    const dry = await run(...argv, "--dry-run");
    expect(dry).toMatchObject({ exitCode: 0, stdout: `would turn off device management for ${MAC}\n` });
    const no = await fleet.run(["hosts", ...argv], { tty: true, answers: [false] });
    expect(no.exitCode).toBe(2);
    expect(await status()).toBe("On (manual)");
    expect((await run(...argv, "--yes")).exitCode).toBe(0);
    expect(await status()).toBe("Off");
  });
});

describe("hosts mdm-summary and desktopadmin", () => {
  beforeEach(async () => {
    await enroll();
    const { store, clock } = fleet.app;
    const issue = await store.munkiIssues.insert({ name: "boom", type: "error" });
    await store.hostMunki.insert({
      id: 1,
      version: "6.3.1",
      issue_ids: [issue.id],
      since: { [String(issue.id)]: clock.iso() },
      updated_at: clock.iso(),
    });
  });

  it("count hosts by enrollment and product", async () => {
    const { stdout } = await run("mdm-summary");
    expect(stdout).toMatch(/enrolled manually\s+1\n/);
    expect(stdout).toMatch(/Jamf\s+1\s+https:\/\/x\.jamfcloud\.com\n/);
    expect((await run("mdm-summary", "--platform", "windows")).stdout).toMatch(/enrolled manually\s+0\n/);
    expect((await run("mdm-summary", "--team", "Lab")).stdout).toMatch(/enrolled manually\s+0\n/);
    expect(await parsed("mdm-summary", "--team", "Workstations")).toMatchObject({
      mobile_device_management_solution: [{ name: "Jamf", hosts_count: 1 }],
    });
  });

  it("show Munki data of one Mac, and of all Macs", async () => {
    const one = await run("desktopadmin", MAC);
    expect(one.stdout).toMatch(/munki version\s+6\.3\.1/);
    expect(one.stdout).toContain("boom (error)");
    const all = await run("desktopadmin");
    expect(all.stdout).toMatch(/Munki 6\.3\.1\s+1\n/);
    expect(all.stdout).toMatch(/error: boom\s+1\n/);
    expect(await parsed("desktopadmin", "--team", "Lab")).toMatchObject({ munki_versions: [] });
    expect((await run("desktopadmin", "linux-1.example.com")).stderr).toContain("is not a Mac");
    expect(await parsed("desktopadmin", "linux-1.example.com")).toBeNull();
    expect((await run("desktopadmin", MAC, "--team", "Lab")).exitCode).toBe(2);
  });
});

describe("hosts encryption-key", () => {
  it("prints only the key on stdout, and exits with 3 if there is none", async () => {
    const none = await run("encryption-key", MAC);
    expect(none).toMatchObject({ exitCode: 3, stdout: "" });
    const key_updated_at = fleet.app.clock.iso();
    await fleet.app.store.hostDiskEncryption.insert({ id: 1, status: "verified", key: KEY, key_updated_at });
    const { stdout, stderr } = await run("encryption-key", MAC);
    expect(stdout).toBe(`${KEY}\n`);
    expect(stderr).not.toContain(KEY);
    expect(await parsed("encryption-key", MAC)).toEqual({
      host_id: 1,
      encryption_key: { key: KEY, updated_at: key_updated_at },
    });
  });
});

describe("hosts device-mapping", () => {
  it("shows addresses, sets the custom one, and in a dry run only reports it", async () => {
    expect((await run("device-mapping", MAC)).stderr).toContain("none found");
    const set = await run("device-mapping", MAC, "--email", "ada@example.com");
    expect(set.stdout).toMatch(/ada@example\.com\s+custom/);
    const dry = await run("device-mapping", MAC, "--email", "two@example.com", "--dry-run");
    expect(dry.stdout).toContain(`would map ${MAC} to two@example.com`);
    expect(dry.stdout).toContain('email: "ada@example.com" -> "two@example.com"');
    expect(await parsed("device-mapping", MAC)).toEqual([{ email: "ada@example.com", source: "custom" }]);
    const bad = await run("device-mapping", MAC, "--email", "nobody");
    expect(bad.exitCode).toBe(1);
    expect(bad.stderr).toContain("must be an email address");
  });
});

describe("hosts certificates, profiles and get", () => {
  it("list what the agent reported", async () => {
    const name = { country: "", organization: "", organizational_unit: "", common_name: "CA" };
    const certificate = (common_name: string) => ({
      sha1: common_name,
      scope: "system",
      username: "",
      not_valid_before: null,
      not_valid_after: "2027-01-01T00:00:00.000Z",
      certificate_authority: false,
      common_name,
      key_algorithm: "",
      key_strength: 0,
      key_usage: "",
      serial: "0a",
      signing_algorithm: "",
      subject: name,
      issuer: name,
    });
    await fleet.app.store.hostDetails.insert({
      id: 1,
      users: [],
      batteries: [{ cycle_count: 7, health: "Normal" }],
      certificates: ["b", "a", "c"].map(certificate),
    });
    await fleet.app.store.hostEmails.insert({ host_id: 1, email: "ada@example.com", source: "custom" });
    const listed = async (...argv: string[]) =>
      (await parsed("certificates", MAC, ...argv)).map((one: { common_name: string }) => one.common_name).join("");
    expect(await listed()).toBe("abc");
    expect(await listed("--order-key", "common_name", "--order-direction", "desc", "--limit", "2")).toBe("cb");
    expect((await run("certificates", MAC)).stdout).toMatch(/a\s+CA\s+2027-01-01/);
    expect((await run("profiles", MAC)).stderr).toContain("none found");
    const { stdout } = await run("get", MAC);
    expect(stdout).toMatch(/people\s+ada@example\.com/);
    expect(stdout).toContain("Normal (7 cycles)");
    expect(stdout).toMatch(/device\s+unlocked/);
  });
});

describe("hosts get", () => {
  it("shows that a new host has reported nothing yet, instead of zeros", async () => {
    const never = "2000-01-01T00:00:00.000Z";
    await fleet.app.store.hosts.update({
      where: eq("id", 1),
      set: { memory: 0, detail_updated_at: never, last_restarted_at: never },
    });
    const { stdout } = await run("get", MAC);
    expect(stdout).toMatch(/memory\s+unknown/);
    expect(stdout).toMatch(/details updated\s+never/);
    expect(stdout).toMatch(/restarted\s+never/);
    expect(await parsed("get", MAC)).toMatchObject({
      memory: 0,
      last_restarted_at: expect.stringMatching(/^2000-01-01/),
    });
  });
});

describe("values of custom variables", () => {
  it("that are too short to be masked are reported when they are set", async () => {
    const create = (value: string) =>
      fleet.run(["variables", "create", "--name", `N${value.length}`, "--value-stdin"], { stdin: value });
    expect((await create("abc")).stderr).toContain("N3 has fewer than 4 characters");
    const long = await create("abcd");
    expect([long.exitCode, long.stderr]).toEqual([0, expect.not.stringContaining("characters")]);
    const changed = await fleet.run(["variables", "update", "N4", "--value-stdin"], { stdin: "a" });
    expect(changed.stderr).toContain("N4 has fewer than 4 characters");
    expect((await fleet.run(["variables", "create", "--help"])).stdout.replace(/\s+/g, " ")).toContain("at least 4");
  });
});
