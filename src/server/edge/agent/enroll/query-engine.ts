// What only the query engine knows when a host enrolls: its details, its node key, and when it was last seen.

import { forgetResults } from "../../../checks/policies/results.ts";
import type {
  EnrolledHost,
  EnrollmentKind,
  EnrollRequest,
  MatchedHost,
  ReportedFields,
} from "../../../hosts/enrollment/kind.ts";
import { createOsVersions, type OsVersions } from "../../../hosts/hosts/os-versions.ts";
import { addSeen, seenRow } from "../../../hosts/hosts/seen.ts";
import { HOST_LANE } from "../../../hosts/operations/kind.ts";
import type { Services } from "../../../platform/core/context.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { oneOf } from "../../../platform/store/query.ts";
import type { ConfigCache } from "../config/cache.ts";
import type { TeamConfig } from "../config/team-config.ts";
import type { HostRow } from "../hosts/state.ts";
import { enrollChanges } from "../inventory/host-fields.ts";

export interface EngineRequest extends EnrollRequest {
  readonly keyHash: string;
  readonly details: unknown;
  readonly platformType: unknown;
}

export class QueryEngine implements EnrollmentKind<EngineRequest> {
  readonly agent = "query_engine";
  readonly lane = HOST_LANE;
  readonly #services: Services;
  readonly #configs: ConfigCache;
  readonly #osVersions: OsVersions;

  constructor(services: Services, configs: ConfigCache) {
    this.#services = services;
    this.#configs = configs;
    this.#osVersions = createOsVersions(services);
  }

  async reported(matched: readonly MatchedHost<EngineRequest>[], now: number): Promise<ReportedFields[]> {
    const changes = matched.map(({ request: { details, platformType, address }, existing }) =>
      enrollChanges(details, platformType, { stored: existing ?? {}, now, publicIp: address }),
    );
    const systems = await this.#osVersions.ids(
      changes.flatMap(({ os }, i) => (os === null ? [] : [{ hostId: matched[i]!.existing?.id ?? null, system: os }])),
    );
    const teamConfigs = await this.#configsOf(matched.map(({ request }) => request.teamId));
    return matched.map(({ request, existing }, i): ReportedFields => {
      const { set, os } = changes[i]!;
      // Stores the configured intervals now, so that the first configuration request does not write.
      const { intervals } = teamConfigs
        .get(request.teamId)!
        .for(set.platform ?? existing?.platform ?? "", set.platform_like ?? existing?.platform_like ?? "");
      const fields = {
        ...set,
        ...intervals,
        ...(os === null ? {} : { os_version_id: systems.of(os) }),
        node_key_hash: request.keyHash,
      };
      if (existing === null) return fields;
      return {
        ...fields,
        // Policy results are deleted below and collected again at the first check-in.
        policy_updated_at: null,
        uuid: existing.uuid || (set.uuid ?? ""),
        hardware_serial: existing.hardware_serial || (set.hardware_serial ?? ""),
      };
    });
  }

  async lastEnrolled(tx: ServerTx, hosts: readonly HostRow[]): Promise<ReadonlyMap<number, string>> {
    const keyed = hosts.filter(({ node_key_hash }) => node_key_hash !== null);
    const last = new Map(keyed.map((host) => [host.id, host.last_enrolled_at]));
    if (this.#services.settings.enroll_cooldown === 0 || keyed.length === 0) return last;
    // An enrollment of the managed agent sets the same time on the host, but installs no query engine.
    const agents = await tx.managedAgents.pick(["id", "enrolled_at"], { where: oneOf("id", [...last.keys()]) });
    for (const { id, enrolled_at } of agents) if (last.get(id) === enrolled_at) last.delete(id);
    return last;
  }

  async write(tx: ServerTx, enrolled: readonly EnrolledHost<EngineRequest>[], now: number): Promise<void> {
    await addSeen(
      tx,
      enrolled.map(({ row }) => seenRow(row, now)),
    );
    // The identifier may now belong to a different machine.
    const again = enrolled.filter(({ isNew }) => !isNew);
    if (again.length > 0)
      await forgetResults(
        tx,
        again.map(({ row }) => row.id),
      );
  }

  forget(): void {
    this.#osVersions.forget();
  }

  async #configsOf(teamIds: readonly (number | null)[]): Promise<ReadonlyMap<number | null, TeamConfig>> {
    return new Map(
      await Promise.all([...new Set(teamIds)].map(async (id) => [id, await this.#configs.get(id)] as const)),
    );
  }
}
