// What only the managed agent knows when a host enrolls: a few details, and its key.

import { firmwareText, hardwareUuid, serialNumber } from "../../../agent-wire/firmware.ts";
import { bindIdentity, type Identity } from "../../certificates/device-ca/identities.ts";
import { hostsWithIdentity } from "../../certificates/host-authentication/identity.ts";
import type { EnrollmentKind, EnrollRequest } from "../../hosts/enrollment/kind.ts";
import { createHostEnrollment } from "../../hosts/enrollment/service.ts";
import type { HostRow } from "../../hosts/hosts/access.ts";
import { displayName } from "../../hosts/hosts/inventory-fields.ts";
import { judgeEnrollment, type Machine, noMachine } from "../../hosts/managed-agents/machines.ts";
import { writeAgents } from "../../hosts/managed-agents/rows.ts";
import { machineOf } from "../../hosts/managed-agents/tables.ts";
import { HOST_LANE } from "../../hosts/operations/kind.ts";
import { clip } from "../../platform/agent-protocol/rows.ts";
import { isoAt } from "../../platform/core/clock.ts";
import { startedPart } from "../../platform/core/running.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { oneOf } from "../../platform/store/query.ts";
import { expectSetups } from "../setup-experience/progress.ts";

export interface EnrollBody {
  readonly enroll_secret: string;
  readonly hardware_uuid: string;
  readonly hardware_serial: string;
  readonly hostname: string;
  readonly platform: string;
  readonly qengine_identifier: string;
  readonly osquery_identifier: string;
  readonly computer_name: string;
  readonly hardware_model: string;
  readonly agent_machine?: Machine | undefined;
}

type Details = ReturnType<typeof detailsOf>;

interface AgentRequest extends EnrollRequest {
  readonly keyHash: string;
  /** What has signed the request. */
  readonly identity: Identity | null;
  readonly details: Details;
  /** Undefined: the agent does not send it. */
  readonly machine: Machine | undefined;
}

export const detailsOf = ({
  hardware_uuid,
  hardware_serial,
  hostname,
  platform,
  computer_name,
  hardware_model,
}: EnrollBody) => ({
  uuid: hardwareUuid(hardware_uuid),
  hardware_serial: serialNumber(hardware_serial),
  hostname: clip(hostname.trim()),
  platform: platform.trim(),
  computer_name: clip(computer_name.trim()),
  hardware_model: firmwareText(hardware_model),
});

/** Keeps stored values, since those of the query engine are more accurate. */
const filledIn = (stored: HostRow, details: Details): Details => ({
  uuid: stored.uuid || details.uuid,
  hardware_serial: stored.hardware_serial || details.hardware_serial,
  hostname: stored.hostname || details.hostname,
  platform: stored.platform || details.platform,
  computer_name: stored.computer_name || details.computer_name,
  hardware_model: stored.hardware_model || details.hardware_model,
});

/** What is known of the machines of these hosts' agents. */
async function machinesOf(tx: ServerTx, hostIds: readonly number[]) {
  const rows = await tx.managedAgents.list({ where: oneOf("id", hostIds) });
  return new Map(rows.map((row) => [row.id, { machine: machineOf(row), conflict: row.conflict }]));
}

const managedAgent: EnrollmentKind<AgentRequest> = {
  agent: "managed_agent",
  lane: HOST_LANE,
  async reported(matched) {
    return matched.map(({ request: { details, address }, existing }) => {
      if (existing === null) return { ...details, display_name: displayName(details), public_ip: address };
      const filled = filledIn(existing, details);
      return { ...filled, display_name: existing.display_name || displayName(filled) };
    });
  },
  async lastEnrolled(tx, hosts) {
    const agents = await tx.managedAgents.pick(["id", "enrolled_at"], {
      where: oneOf(
        "id",
        hosts.map(({ id }) => id),
      ),
    });
    return new Map(agents.map(({ id, enrolled_at }) => [id, enrolled_at]));
  },
  guarded: (tx, hosts, now) =>
    hostsWithIdentity(
      tx,
      hosts.map(({ id }) => id),
      isoAt(now),
    ),
  async taken(tx, matched, now) {
    const machines = await machinesOf(
      tx,
      matched.map(({ existing }) => existing.id),
    );
    const copies = matched.filter(({ request: { machine }, existing }) => {
      if (machine === undefined) return false;
      const [verdict] = judgeEnrollment(machines.get(existing.id)?.machine ?? noMachine, machine, now);
      return verdict === "copy";
    });
    return new Set(copies.map(({ request }) => request));
  },
  async write(tx, enrolled, now) {
    for (const { request, row } of enrolled) {
      const { identity, details } = request;
      const device = {
        host_id: row.id,
        hardware_serial: row.hardware_serial,
        hardware_uuid: identity?.hardware_uuid ?? details.uuid,
      };
      if (identity) await bindIdentity({ store: tx }, identity, device);
    }
    const hosts = enrolled.map(({ row }) => row);
    const ids = hosts.map(({ id }) => id);
    const machines = await machinesOf(tx, ids);
    await expectSetups(
      tx,
      hosts.filter(({ id }) => !machines.has(id)),
      isoAt(now),
    );
    await writeAgents(
      tx,
      enrolled.map(({ request: { keyHash, machine }, row: { id } }) => {
        const before = machines.get(id);
        const [, after] = machine ? judgeEnrollment(before?.machine ?? noMachine, machine, now) : [null, noMachine];
        const conflict = machine ? (before?.conflict ?? null) : null;
        return { id, agent_key_hash: keyHash, enrolled_at: isoAt(now), ...after, conflict };
      }),
    );
  },
  forget: () => {},
};

export const managedAgentEnrollment = startedPart("enrollment of managed agents", async (services) => {
  const enrollment = createHostEnrollment(services, managedAgent);
  return { enroll: enrollment.enroll, stop: () => enrollment.idle() };
});
