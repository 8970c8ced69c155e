// Inserts the device management, policy and vulnerability data of a fleet directly into the store.
import type { Services } from "../../src/server/platform/core/context.ts";
import type { Dice } from "../../test/support/request-fuzz.ts";

const POLICIES = 50;

export interface Around {
  readonly policies: readonly { readonly id: number; readonly result_id: number }[];
  readonly solutions: readonly { readonly id: number }[];
  readonly issues: readonly { readonly id: number }[];
  readonly titleId: number;
}

type Version = { readonly id: number; readonly title_id: number };

export async function fillAround(
  { store, clock }: Services,
  versions: readonly Version[],
  osVersions: readonly { readonly id: number }[],
): Promise<Around> {
  const now = clock.iso();
  const policies = await store.policies.insertMany(
    Array.from({ length: POLICIES }, (_, i) => ({
      created_at: now,
      updated_at: now,
      scope: "global" as const,
      name: `policy ${i}`,
      query: "SELECT 1",
      result_id: 1000 + i,
    })),
  );
  const solutions = await store.mdmSolutions.insertMany([
    { name: "Svc", server_url: "https://svc.example.com" },
    { name: "Rival", server_url: "https://rival.example.com" },
  ]);
  const issues = await store.munkiIssues.insertMany(
    Array.from({ length: 20 }, (_, i) => ({ name: `issue ${i}`, type: "error" as const })),
  );
  // One in a version that all hosts have, one in a version that a few have, one in an operating system, and many
  // without a match.
  await store.softwareCves.insertMany([
    { software_id: versions[0]!.id, cve: "CVE-2026-0001" },
    { software_id: versions.at(-1)!.id, cve: "CVE-2026-0002" },
    ...versions.slice(0, 500).map(({ id }, i) => ({ software_id: id, cve: `CVE-2025-${1000 + (i % 300)}` })),
  ]);
  await store.osCves.insertMany([{ os_version_id: osVersions[0]!.id, cve: "CVE-2026-0003" }]);
  return { policies, solutions, issues, titleId: versions[0]!.title_id };
}

interface ManagedHost {
  readonly id: number;
  readonly platform: string;
}

export async function fillManagement(
  { store, clock }: Services,
  hosts: readonly ManagedHost[],
  dice: Dice,
  { policies, solutions, issues, titleId }: Around,
): Promise<void> {
  const now = clock.iso();
  await store.hostPolicies.insertMany(hosts.map(({ id }) => answersOf(id, dice, policies)));
  const managed = hosts.filter(({ platform }) => platform === "darwin" || platform === "windows");
  const macs = managed.filter(({ platform }) => platform === "darwin");
  await store.hostMdm.insertMany(
    managed.map(({ id, platform }) => ({
      id,
      enrollment_status: dice.pick(["On (automatic)", "On (automatic)", "On (manual)", "Pending", "Off"] as const),
      solution_id: dice.pick(solutions).id,
      is_server: platform === "windows" && dice.chance(0.1),
      connected_to_svc: dice.chance(0.8),
    })),
  );
  await store.hostProfiles.insertMany(
    managed.flatMap(({ id, platform }) =>
      [1, 2, 3].map((n) => ({
        host_id: id,
        profile_uuid: `profile-${n}`,
        platform: platform === "darwin" ? ("darwin" as const) : ("windows" as const),
        name: `Profile ${n}`,
        status: dice.chance(0.9) ? ("verified" as const) : dice.pick(["verifying", "pending", "failed"] as const),
        operation_type: "install" as const,
      })),
    ),
  );
  await store.hostDiskEncryption.insertMany(
    managed.map(({ id }) => ({
      id,
      status: dice.chance(0.8) ? ("verified" as const) : dice.pick(["action_required", "enforcing", "failed"] as const),
    })),
  );
  await store.hostBootstrap.insertMany(
    macs.map(({ id }) => ({ id, status: dice.chance(0.95) ? ("installed" as const) : ("failed" as const) })),
  );
  await store.hostMunki.insertMany(
    macs.map(({ id }) => {
      const issueIds = issues.filter(() => dice.chance(0.05)).map((issue) => issue.id);
      return {
        id,
        version: dice.pick(["6.4.2", "6.5.1", "6.6.0"]),
        issue_ids: issueIds,
        since: Object.fromEntries(issueIds.map((issue) => [issue, now])),
        updated_at: now,
      };
    }),
  );
  await store.softwareInstalls.insertMany(
    hosts
      .filter(({ id }) => id % 10 === 0)
      .map(({ id }) => ({
        host_id: id,
        title_id: titleId,
        status: dice.pick(["installed", "failed_install", "pending_install"] as const),
      })),
  );
}

/** The first policies fail often, the last one on one host in a thousand. */
function answersOf(id: number, dice: Dice, policies: Around["policies"]) {
  const failing = policies
    .filter((_, i) => (i === policies.length - 1 ? id % 1000 === 0 : dice.chance(0.4 / (i + 1))))
    .map((policy) => policy.result_id);
  const failed = new Set(failing);
  const passing = policies.map((policy) => policy.result_id).filter((result) => !failed.has(result));
  return { id, passing, failing, critical_count: 0, issues_count: failing.length };
}
