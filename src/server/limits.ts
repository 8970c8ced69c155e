import { HOST_ACTIVITIES } from "./activities/by-host.ts";
import { strangerBodies } from "./agent/http/answer.ts";
import { resultLimits } from "./agent/ingest/results.ts";
import { UNASKED } from "./agent/ingest/unasked.ts";
import { linesLimit } from "./agent/logs/log.ts";
import { storedText } from "./agent-protocol/rows.ts";
import { bodyLimits } from "./agent-protocol/wire.ts";
import { STATUS_DETAIL } from "./certificates/hosts.ts";
import { certificatesLimit } from "./certificates/inventory.ts";
import { formLimit } from "./core/http/body.ts";
import { strangerBody, strangerLimits } from "./core/http/strangers.ts";
import type { Limit } from "./core/limits.ts";
import { DEVICE_ACTIONS, DEVICE_ACTIONS_A_DAY, DEVICE_REFETCHES } from "./device-page/limits.ts";
import { wrongSecrets } from "./enrollment/secret-check.ts";
import { SHARED_NAMES } from "./host-limits/shared-names.ts";
import { emailsLimit } from "./hosts/emails.ts";
import { identifierLimit } from "./hosts/identifier.ts";
import { batteriesLimit } from "./hosts/inventory/batteries.ts";
import { usersLimit } from "./hosts/inventory/users.ts";
import { unknownSockets } from "./live-queries/socket.ts";
import { scriptOutput } from "./managed-agent/routes.ts";
import { androidLimits } from "./mdm/android/devices/report.ts";
import { appleFact, appleTexts, appleUsers } from "./mdm/apple/channel/limits.ts";
import { windowsAnswer } from "./mdm/windows/channel/answers.ts";
import { windowsDeviceLimits } from "./mdm/windows/enroll/enroll.ts";
import { deviceSerial } from "./mdm/windows/joins/serial.ts";
import { munkiIssuesLimit } from "./munki/ingest.ts";
import { SCHEDULE_STATISTICS } from "./packs/inventory.ts";
import { ERROR_TEXT, ERRORS_OF_HOST } from "./query-errors/errors.ts";
import { ADDED_SOFTWARE, ENTRIES, PATH_TEXT, PATHS } from "./software/additions.ts";

/** All limits of what hosts, devices and strangers may send, by the area of docs/limits.md in which they stand. */
export const limits: Readonly<Record<string, readonly Limit[]>> = {
  Strangers: [
    ...Object.values(strangerLimits),
    strangerBody,
    formLimit,
    ...Object.values(strangerBodies),
    wrongSecrets,
    unknownSockets,
  ],
  "Query agents": [...bodyLimits, identifierLimit, linesLimit, ...resultLimits, ERROR_TEXT, ERRORS_OF_HOST],
  "Managed agents": [scriptOutput],
  Inventory: [
    storedText,
    usersLimit,
    batteriesLimit,
    certificatesLimit,
    ENTRIES,
    PATHS,
    PATH_TEXT,
    emailsLimit,
    munkiIssuesLimit,
    SCHEDULE_STATISTICS,
  ],
  "What one host may add": [
    UNASKED,
    ADDED_SOFTWARE,
    SHARED_NAMES,
    HOST_ACTIVITIES,
    STATUS_DETAIL,
    DEVICE_REFETCHES,
    DEVICE_ACTIONS,
    DEVICE_ACTIONS_A_DAY,
  ],
  "Apple devices": [...Object.values(appleTexts), appleFact, appleUsers],
  "Windows devices": [...windowsDeviceLimits, windowsAnswer, deviceSerial],
  "Android devices": Object.values(androidLimits),
};
