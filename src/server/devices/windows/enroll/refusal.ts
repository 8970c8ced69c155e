import type { FaultCode } from "../../../../soap/fault.ts";

/** The device is not enrolled, for a reason that it gets. */
export class EnrollRefusal extends Error {
  readonly code: FaultCode;

  constructor(code: FaultCode, reason: string) {
    super(reason);
    this.code = code;
  }
}
