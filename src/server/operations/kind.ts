// What a kind of operation is. `server/extensions.ts` lists the kinds.
import type { Context } from "../core/context.ts";
import type { RowOf } from "../store/table.ts";
import type { OperationResult, operations } from "./tables.ts";

export type Operation = RowOf<typeof operations>;

export interface OperationKind {
  readonly name: string;
  /** Of a host's operations, those with the lowest number come first. */
  readonly priority: number;
  /** How often it is sent if the host does not answer. More than 1 only if doing it twice does no harm. */
  readonly attempts: number;
  /** Its name in lists of what is upcoming on a host. */
  readonly title: string;
  /** Whether it can still be cancelled after it was sent. */
  readonly isCancellableOnceSent: boolean;
  /** Whether the answer means that the host has done it. */
  isDone(result: OperationResult): boolean;
  /** Runs in the transaction in which it ends, or in which a late answer arrives after it has expired. */
  ended(inside: Inside, operation: Operation, ending: Ending): Promise<void>;
}

/** What a kind may use in the transaction. The user is the server itself. */
export type Inside = Pick<Context, "store" | "clock" | "extensions" | "user">;

export type Ending =
  | { readonly state: "answered" | "failed"; readonly result: OperationResult }
  | { readonly state: "cancelled" | "expired"; readonly result: null };

declare module "../core/extensions.ts" {
  interface Extensions {
    /** By name. */
    readonly operationKinds: Readonly<Record<string, OperationKind>>;
  }
}

export function kindOf({ extensions }: Pick<Context, "extensions">, name: string): OperationKind {
  const kind = Object.hasOwn(extensions.operationKinds, name) ? extensions.operationKinds[name] : undefined;
  if (!kind) throw new Error(`no kind of operation is named ${name}`);
  return kind;
}
