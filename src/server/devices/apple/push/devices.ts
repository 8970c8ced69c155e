// What pushing needs to know of enrollments and the push certificate, which other features keep.
import type { Context } from "../../../platform/core/context.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import type { ClientCertificate } from "./connect.ts";

export interface PushCertificate extends ClientCertificate {
  /** Identifies the certificate: another one has another fingerprint. */
  readonly fingerprint: string;
}

/** How a device can be reached. */
export interface PushTarget {
  readonly enrollment_id: number;
  /** Hexadecimal. */
  readonly token: string;
  readonly topic: string;
  readonly magic: string;
  /** When the device sent the token. */
  readonly token_at: string;
}

type Backing = Pick<Context, "store" | "clock" | "config">;

export interface PushDevices {
  /** Null: device management of Apple devices is turned off. */
  certificate(backing: Backing): Promise<PushCertificate | null>;
  /** The enrollments among these that are enabled and have a token. */
  targets(store: ServerTx, enrollmentIds: readonly number[]): Promise<PushTarget[]>;
  /** The enrollments among these for which a command is waiting. */
  waiting(store: ServerTx, enrollmentIds: readonly number[]): Promise<ReadonlySet<number>>;
  /** The enabled enrollments of the hosts. */
  ofHosts(store: ServerTx, hostIds: readonly number[]): Promise<number[]>;
}

declare module "../../../platform/core/extensions.ts" {
  interface Extensions {
    readonly pushDevices: PushDevices;
  }
}
