// The organization of the pictures: always the same hosts, software, policies and people.
import { expect } from "vitest";
import { runJob } from "../../../src/server/edge/jobs/start.ts";
import { hours, isoAt, minutes } from "../../../src/server/platform/core/clock.ts";
import { vulnerabilityCounts } from "../../../src/server/software/software/vulnerabilities/counts.ts";
import type { TestApp } from "../app.ts";
import { turnOnAppleMdm } from "../apple.ts";
import { makeHost, makeInventory, makePolicy, makeResults, makeSoftware, makeVulnerabilities } from "../make.ts";

interface Machine {
  readonly name: string;
  readonly platform: "darwin" | "windows" | "ubuntu";
  readonly team: number;
  /** Hours since it was last seen; 0: it is online. */
  readonly away: number;
}

const people = ["ada", "ben", "cleo", "dora", "emil", "fay", "gus", "hana", "ivan", "judy", "kai", "lena"];

const systems = {
  darwin: { os_version: "macOS 15.3.1", hardware_vendor: "Apple Inc.", hardware_model: "MacBookPro18,3" },
  windows: {
    os_version: "Windows 11 Enterprise 23H2",
    hardware_vendor: "LENOVO",
    hardware_model: "ThinkPad X1 Carbon",
  },
  ubuntu: { os_version: "Ubuntu 24.04.1 LTS", hardware_vendor: "Dell Inc.", hardware_model: "PowerEdge R660" },
} as const;

/** Teams in the order in which they are created. */
const ENGINEERING = 1;
const SALES = 2;
const SERVERS = 3;

const machines: readonly Machine[] = [
  ...people.map((person, at) => ({
    name: `${person}-${at % 3 === 2 ? "pc" : "mac"}`,
    platform: at % 3 === 2 ? ("windows" as const) : ("darwin" as const),
    team: at % 2 === 0 ? ENGINEERING : SALES,
    away: at % 5 === 4 ? 30 + at : 0,
  })),
  ...["build-1", "build-2", "db-1", "db-2", "web-1", "web-2", "web-3", "backup-1"].map((name, at) => ({
    name,
    platform: "ubuntu" as const,
    team: SERVERS,
    away: at === 7 ? 100 : 0,
  })),
];

const programs: readonly (readonly [name: string, version: string, source: string])[] = [
  ["Firefox", "134.0.2", "apps"],
  ["Google Chrome", "133.0.6943.54", "apps"],
  ["Slack", "4.42.115", "apps"],
  ["zoom.us", "6.3.6", "apps"],
  ["7-Zip 24.08 (x64)", "24.08", "programs"],
  ["Mozilla Firefox (x64 en-US)", "133.0.3", "programs"],
  ["openssl", "3.0.13-0ubuntu3.4", "deb_packages"],
  ["openssh-server", "1:9.6p1-3ubuntu13.5", "deb_packages"],
  ["postgresql-16", "16.4-0ubuntu0.24.04.2", "deb_packages"],
];

const sourcesOf = { darwin: "apps", windows: "programs", ubuntu: "deb_packages" } as const;

const GiB = 1024 ** 3;
/** Longer than the test takes. */
const ONLINE_SECONDS = 6 * 3_600;

/** Fills the app; what it makes has the ids that `views.ts` names. */
export async function fillWorld(t: TestApp): Promise<void> {
  const ok = async (reply: Promise<Response>) => {
    const { status } = await reply;
    expect([200, 201, 202, 204]).toContain(status);
    // Not everything happens at once.
    t.clock.advance(minutes(4));
  };
  await ok(t.patch("/config", { org_info: { org_name: "Example" } }));
  for (const name of ["Engineering", "Sales", "Servers"]) await ok(t.post("/teams", { name }));
  await makePeople(t, ok);
  await turnOnAppleMdm(t);
  await t.store.applePushCertificates.insert({
    created_at: t.clock.iso(),
    topic: "com.apple.mgmt.External.5d3c0e5a",
    certificate: "",
    key: "",
    fingerprint: "",
    common_name: "APSP:5d3c0e5a",
    serial_number: "72623859790382856",
    issuer: "Apple Application Integration 2 Certification Authority",
    not_valid_before: "2025-03-20T00:00:00.000Z",
    not_valid_after: "2026-03-20T00:00:00.000Z",
  });
  const hosts = await makeMachines(t);
  await makePrograms(t, hosts);
  await makeChecks(t, hosts, ok);
  await ok(
    t.post("/labels", { name: "Laptops", description: "Macs and PCs", query: "SELECT 1 FROM battery", platform: "" }),
  );
  await ok(t.post("/labels", { name: "On loan", hosts: ["kai-pc", "lena-mac"] }));
  for (const job of ["policy_counts", "counts"]) await runJob(t.services, job);
  await ok(
    t.patch("/config", {
      webhook_settings: {
        activities_webhook: { enable_activities_webhook: true, destination_url: "https://hooks.example.com/svc" },
      },
      integrations: {
        ticketing_a: [
          {
            url: "https://example.atlassian.net",
            username: "svc@example.com",
            api_token: "not-a-token",
            project_key: "IT",
            enable_failing_policies: true,
          },
        ],
      },
    }),
  );
}

async function makePeople(t: TestApp, ok: (reply: Promise<Response>) => Promise<void>): Promise<void> {
  const password = "long-enough-password-1";
  const add = (user: object) => ok(t.post("/users/admin", { password, admin_forced_password_reset: false, ...user }));
  await add({ name: "Ben Maintainer", email: "ben@example.com", global_role: "maintainer" });
  await add({ name: "Cleo Observer", email: "cleo@example.com", global_role: "observer" });
  await add({ name: "Dora", email: "dora@example.com", teams: [{ id: ENGINEERING, role: "admin" }] });
  await ok(t.post("/invites", { name: "Emil", email: "emil@example.com", global_role: "observer" }));
}

type Host = Awaited<ReturnType<typeof makeHost>>;

async function makeMachines(t: TestApp): Promise<readonly Host[]> {
  const hosts: Host[] = [];
  for (const [at, { name, platform, team, away }] of machines.entries()) {
    const seen = isoAt(t.clock.now() - hours(away));
    const place = {
      hostname: `${name}.example.com`,
      display_name: name,
      computer_name: name,
      identifier: `identifier-of-${name}`,
      uuid: `4C4C4544-0042-3510-8051-${String(at).padStart(12, "0")}`,
      hardware_serial: `SN${String(1000 + at)}`,
      primary_ip: `192.0.2.${10 + at}`,
      primary_mac: `02:00:5e:00:00:${String(10 + at)}`,
    };
    const hardware = {
      cpu_brand: platform === "darwin" ? "Apple M1 Pro" : "Intel Xeon",
      memory: (platform === "ubuntu" ? 64 : 16) * GiB,
      gigs_disk_space_available: 80 + 13 * (at % 11),
      percent_disk_space_available: 20 + 5 * (at % 11),
      gigs_total_disk_space: 500,
    };
    hosts.push(
      await makeHost(
        t,
        { ...place, ...hardware, ...systems[platform], platform, team_id: team },
        { seen, onlineFor: ONLINE_SECONDS },
      ),
    );
  }
  return hosts;
}

async function makePrograms(t: TestApp, hosts: readonly Host[]): Promise<void> {
  const software = [];
  for (const [name, version, source] of programs) software.push(await makeSoftware(t, name, version, source));
  for (const [at, host] of hosts.entries()) {
    const source = sourcesOf[machines[at]!.platform];
    await makeInventory(
      t,
      host.id,
      software.filter((row, index) => row.source === source && (index + at) % 4 !== 3),
    );
  }
  const published = { cve_published: "2026-02-03T00:00:00.000Z", epss_probability: 0.12 };
  await makeVulnerabilities(t, {
    software: software[0]!.id,
    cves: ["CVE-2026-1001", "CVE-2026-1002"],
    fixedIn: "135.0",
    known: {
      ...published,
      cvss_score: 9.8,
      cve_description: "A page could run code of its own.",
      cisa_known_exploit: true,
    },
  });
  await makeVulnerabilities(t, {
    software: software[6]!.id,
    cves: ["CVE-2026-1003"],
    fixedIn: "3.0.13-0ubuntu3.5",
    known: { ...published, cvss_score: 5.9, cve_description: "A certificate could take long to check." },
  });
  await t.services.running.of(vulnerabilityCounts).flush();
}

async function makeChecks(
  t: TestApp,
  hosts: readonly Host[],
  ok: (reply: Promise<Response>) => Promise<void>,
): Promise<void> {
  const policies = [
    await makePolicy(t, {
      name: "Disk is encrypted",
      description: "A lost computer must not give its data away.",
      resolution: "Turn on FileVault or BitLocker.",
      query: "SELECT 1 FROM disk_encryption WHERE user_uuid IS NOT '' AND encrypted = 1;",
      critical: true,
    }),
    await makePolicy(t, { name: "Firewall is on", query: "SELECT 1 FROM alf WHERE global_state >= 1;" }),
    await makePolicy(t, { name: "Restarted within a month", query: "SELECT 1 FROM uptime WHERE days < 30;" }),
    await makePolicy(t, { name: "No guest account", query: "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM users);" }),
  ];
  for (const [at, host] of hosts.entries()) {
    const isFailing = (index: number) => (at + 1) % (index + 3) === 0;
    await makeResults(t, host.id, {
      passing: policies.filter((_, index) => !isFailing(index)),
      failing: policies.filter((_, index) => isFailing(index)),
    });
  }
  const query = (name: string, sql: string, interval: number) =>
    ok(t.post("/queries", { name, query: sql, interval, description: `${name} of each host` }));
  await query("Local users", "SELECT username, uid FROM users WHERE uid >= 500;", 86_400);
  await query("Listening ports", "SELECT port, protocol FROM listening_ports WHERE port > 0;", 3_600);
  await query("USB devices", "SELECT vendor, model, serial FROM usb_devices;", 0);
}
