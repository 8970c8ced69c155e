// Codes of statuses and alerts (OMA DM 1.2; MS-MDM 2.2.7).

export const alerts = {
  serverStart: "1200",
  clientStart: "1201",
  nextMessage: "1222",
  abort: "1223",
  clientEvent: "1224",
  noEndOfData: "1225",
  generic: "1226",
} as const;

/** The type of the generic alert by which a device reports that its user has removed the enrollment. */
export const UNENROLLED_BY_USER = "com.microsoft:mdm.unenrollment.userrequest";

export const statuses = {
  processing: "101",
  ok: "200",
  authenticated: "212",
  wrongCredentials: "401",
  credentialsNeeded: "407",
  exists: "418",
  notFound: "404",
  commandFailed: "500",
  atomicFailed: "507",
} as const;

const reasons: Readonly<Record<string, string>> = {
  "214": "the operation was cancelled",
  "215": "not executed",
  "216": "rolled back",
  "400": "malformed command",
  "401": "wrong credentials",
  "403": "forbidden",
  "404": "no such node",
  "405": "not allowed for this node",
  "406": "feature not supported",
  "407": "credentials needed",
  "415": "unsupported type or format",
  "418": "exists already",
  "425": "permission denied",
  "500": "the command failed",
  "507": "the Atomic failed",
  "516": "the rollback of the Atomic failed",
};

/** Whether the device has done it. 214 to 216 mean that it was not applied. */
export const isDone = (status: string): boolean => /^2\d\d$/.test(status) && !["214", "215", "216"].includes(status);

export const statusReason = (status: string): string => reasons[status] ?? "";
