import type { ServerMdm } from "./inventory.ts";

/** This server among the products that manage hosts. The identifiers of its enrollments never change. */
export const ownMdm = { name: "svc", payloadIdentifier: "com.svc.mdm", providerId: "svc" } as const satisfies ServerMdm;
