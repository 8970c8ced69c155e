// What a kind of operation is. `server/extensions.ts` lists the kinds.

import type { Activity } from "../../../api/platform/activities.ts";
import type { Entry } from "../../platform/activities/record.ts";
import type { Context } from "../../platform/core/context.ts";
import { extensionPoint } from "../../platform/core/extensions.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import type { RowOf } from "../../platform/store/table.ts";
import type { HostRow } from "../hosts/access.ts";
import type { OperationResult, operations } from "./tables.ts";

export type Operation = RowOf<typeof operations>;

/**
 * A host has one queue for each way to reach it, so that a device does not wait for an agent that is switched off. Agents
 * fetch what is in the lane `host`; each device channel has its own lane.
 */
export type Lane = string;
export const HOST_LANE: Lane = "host";

/** How the managed agent gets an operation, and answers it: through the calls for scripts, or those for installations. */
export type AgentForm = "script" | "install";

export interface OperationKind<R extends OperationResult = OperationResult> {
  readonly name: string;
  readonly lane: Lane;
  /** Default: as a script. */
  readonly form?: AgentForm;
  /** Operations of a host with the lowest number come first. */
  readonly priority: number;
  /** How often it is sent if the host does not answer. More than 1 only if doing it twice does no harm. */
  readonly attempts: number;
  /** The operation's name in lists of what is upcoming on a host. */
  readonly title: string;
  /** Whether the operation is left out of lists of what is upcoming; users cannot cancel it then. */
  readonly isHidden?: boolean;
  /** Whether the operation can still be cancelled after it was sent. */
  readonly isCancellableOnceSent: boolean;
  /**
   * Whether the operation has to be answered in time: otherwise it is sent again, or ends after the last attempt.
   * Device channels wait for weeks, and send what was not answered again when the device asks next.
   */
  readonly expires: boolean;
  /**
   * The content as the host gets it, with secrets that are not stored in contents. Runs in the transaction in which the
   * operation is sent.
   */
  outgoing?(inside: Pick<Inside, "store">, operation: Operation, content: string): Promise<string>;
  /** The answer as it is stored, without secrets that the host has repeated. */
  stored?(inside: Pick<Inside, "store" | "running">, operation: Operation, result: R): Promise<R>;
  /** Milliseconds for which it is kept after it has ended. Default: for as long as its host. */
  readonly keptFor?: number;
  /** How users see it while it waits. Default: as a script. */
  readonly view?: OperationView;
  /**
   * The host moves to this team (null: to none) before it has begun. If the operation is about something that the other
   * team has, this ends it in the caller's transaction and returns the activity that records it.
   */
  leftTeam?(inside: Context, host: OperationHost, operation: Operation, teamId: number | null): Promise<Entry | null>;
  /** Whether the answer means that the host has done it. */
  isDone(result: R): boolean;
  /** Runs in the transaction in which it ends, or in which a late answer arrives after it has expired. */
  ended(inside: Inside, operation: Operation, ending: Ending<R>): Promise<void>;
}

export const operationKinds = extensionPoint<OperationKind>("kinds of operations");

/** How users see operations of some kinds that have not ended, and how they cancel them. */
export interface OperationView {
  /** Type and details of each of the operations, in their order. */
  upcoming(store: ServerTx, host: OperationHost, operations: readonly OpenOperation[]): Promise<OperationActivity[]>;
  /**
   * Why each of these open operations cannot be cancelled; null: it can. Default: a host that was sent one has begun, if
   * the kind does not allow it to be cancelled then.
   */
  refusals?(
    inside: Pick<Inside, "store" | "extensions">,
    operations: readonly CancelCandidate[],
  ): Promise<readonly (string | null)[]>;
  /**
   * Ends an operation that `refusals` allows to be cancelled, in the caller's transaction, under the lock of its host.
   * Returns the activity that records it.
   */
  cancel(inside: Context, host: OperationHost, operation: Operation): Promise<Entry>;
}

export type OperationActivity = Pick<Activity, "type" | "details"> & Partial<Pick<Activity, "svc_initiated">>;

export type OperationHost = Pick<HostRow, "id" | "uuid" | "platform" | "display_name">;

/** An operation without what the host has answered. */
export type OpenOperation = Pick<
  Operation,
  "id" | "created_at" | "uuid" | "host_id" | "kind" | "priority" | "user_id" | "state"
>;

/** What decides whether an operation can be cancelled. */
export type CancelCandidate = Pick<Operation, "id" | "host_id" | "kind" | "lane" | "state" | "attempts">;

/** What a kind may use in the transaction. The user is the server itself. */
export type Inside = Pick<Context, "store" | "clock" | "extensions" | "user" | "running">;

export type Ending<R extends OperationResult = OperationResult> =
  | { readonly state: "answered" | "failed"; readonly result: R }
  | { readonly state: "cancelled" | "expired"; readonly result: null };

export const formOf = (ctx: Pick<Context, "extensions">, { kind }: Pick<Operation, "kind">): AgentForm =>
  operationKind(ctx, kind).form ?? "script";

export function operationKind({ extensions }: Pick<Context, "extensions">, name: string): OperationKind {
  const kind = extensions.named(operationKinds, name);
  if (!kind) throw new Error(`no kind of operation is named ${name}`);
  return kind;
}
