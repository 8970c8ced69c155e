// What a protocol passes to the enrollment service. See README.md.
import { extensionPoint } from "../../platform/core/extensions.ts";
import type { ServerTx, Tables } from "../../platform/core/tables.ts";
import type { InsertOf } from "../../platform/store/table.ts";
import type { HostRow } from "../hosts/access.ts";
import type { Lane } from "../operations/kind.ts";
import type { EnrollingAgent } from "./move.ts";

/** Empty if the machine does not report it. */
export interface Hardware {
  readonly uuid: string;
  readonly serial: string;
}

/** Returns the id of the host with each hardware, in the order given; null: there is none. */
export type HardwareLookup = (store: ServerTx, hardware: readonly Hardware[]) => Promise<readonly (number | null)[]>;

/** How device management finds hosts that it manages or expects. The first one that finds a host counts. */
export const hostsOfHardware = extensionPoint<HardwareLookup>("hosts by their hardware");

/** What the enrolling machine reports about itself. Nothing of it is proved, unless `isProved`. */
export interface EnrollRequest {
  /** Matches the host with this identifier, in any letter case. */
  readonly identifier: string;
  /** If set, matches the only host of the secret's team with this hardware UUID, if none has the identifier. */
  readonly uuid?: string;
  /** Matches the host that device management knows by this hardware (`hostsOfHardware`), whatever its team is. */
  readonly hardware?: Hardware;
  /** Matches this host if it still exists: the machine has proved that it is meant, for example by its certificate. */
  readonly hostId?: number;
  /** The team of the enroll secret; null: a global secret. */
  readonly teamId: number | null;
  /**
   * Hash of the enroll secret, if the machine enrolls with one: it may add a limited number of new hosts in an hour.
   */
  readonly secretHash?: string;
  /** Whether a hardware key or client certificate has proved the identity of the machine. */
  readonly isProved: boolean;
  readonly address: string;
}

/** Columns that the service writes itself. */
type ServiceColumn = "identifier" | "team_id" | "created_at" | "updated_at" | "last_enrolled_at";
/** Columns of the host that the protocol reports. */
export type ReportedFields = Partial<Omit<InsertOf<Tables["hosts"]>, ServiceColumn>>;

export interface MatchedHost<R> {
  readonly request: R;
  /** The host that enrolls again; null: a new one. */
  readonly existing: HostRow | null;
}

export interface EnrolledHost<R> {
  readonly request: R;
  readonly row: HostRow;
  readonly isNew: boolean;
}

export interface EnrollmentKind<R extends EnrollRequest> {
  readonly agent: EnrollingAgent;
  /** Pending actions in this lane end when a host enrolls again. Null: the protocol ends them itself. */
  readonly lane: Lane | null;
  /** What to write to the hosts, in the order of `matched`. Called before the transaction. */
  reported(matched: readonly MatchedHost<R>[], now: number): Promise<readonly ReportedFields[]>;
  /** When agents of this kind last enrolled, for those of the hosts that have a key of this kind. */
  lastEnrolled(tx: ServerTx, hosts: readonly HostRow[]): Promise<ReadonlyMap<number, string>>;
  /** The hosts that enroll only by requests that name them (`hostId`), because the machine has proved that. */
  guarded?(tx: ServerTx, hosts: readonly HostRow[], now: number): Promise<ReadonlySet<number>>;
  /** The requests whose hosts another machine uses now. */
  taken?(
    tx: ServerTx,
    matched: readonly (MatchedHost<R> & { existing: HostRow })[],
    now: number,
  ): Promise<ReadonlySet<R>>;
  /** Writes the keys and other rows of the protocol's own tables, in the transaction that enrolls the hosts. */
  write(tx: ServerTx, enrolled: readonly EnrolledHost<R>[], now: number): Promise<void>;
  /** Drops cached ids: a row that `reported` refers to was deleted, and the enrollment starts over. */
  forget(): void;
}

/** Why a host was not enrolled. `wait`: seconds after which it may try again; 0: it has to be allowed first. */
export interface Refusal {
  readonly refused: "team" | "device limit" | "new hosts" | "cool-down" | "identity" | "machine";
  /** For the agent. */
  readonly reason: string;
  /** `machine`: the host that another machine uses. */
  readonly hostId?: number;
  readonly wait: number;
}

export type EnrollmentOutcome<R> = EnrolledHost<R> | Refusal;
