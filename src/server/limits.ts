import { unconfirmedCertificates } from "./automations/conditional-access/certificates.ts";
import { STATUS_DETAIL } from "./certificates/certificates/hosts.ts";
import { certificatesLimit } from "./certificates/certificates/inventory.ts";
import { certificateNames, certificateSubject, HOST_CERTIFICATES } from "./certificates/device-ca/issue.ts";
import { agentKey } from "./certificates/host-authentication/agents.ts";
import { identityUuid } from "./certificates/host-authentication/identity.ts";
import { carveBlocks, carveNames } from "./checks/carves/rules.ts";
import { SCHEDULE_STATISTICS } from "./checks/packs/inventory.ts";
import { reportColumns, reportRows, reportText } from "./checks/queries/answers.ts";
import { failureLines, failureText } from "./checks/queries/failures.ts";
import { waitingReports } from "./checks/queries/reports.ts";
import { fieldLimits } from "./delivery/managed-agent/field-limits.ts";
import { scriptOutput } from "./delivery/managed-agent/routes.ts";
import { installOutput } from "./delivery/software-installs/agent.ts";
import { storedInstallOutput } from "./delivery/software-installs/kinds.ts";
import { androidResult } from "./devices/android/commands/answers.ts";
import { androidLimits } from "./devices/android/devices/report.ts";
import { appleFact, appleTexts, appleUsers } from "./devices/apple/channel/limits.ts";
import { statusDetail, statusReport } from "./devices/apple/declarations/status.ts";
import { machineInfo, machineInfoCertificates, machineInfoText } from "./devices/apple/enroll/machine-info.ts";
import { sealedKey } from "./devices/apple/filevault/key.ts";
import { windowsAnswer, windowsDetail } from "./devices/windows/channel/answers.ts";
import { windowsDeviceLimits } from "./devices/windows/enroll/enroll.ts";
import { deviceSerial } from "./devices/windows/joins/serial.ts";
import { windowsMissing, windowsOutput } from "./devices/windows/profiles/inventory.ts";
import { strangerBodies } from "./edge/agent/http/answer.ts";
import { resultLimits } from "./edge/agent/ingest/limits.ts";
import { UNASKED } from "./edge/agent/ingest/unasked.ts";
import { linesLimit } from "./edge/agent/logs/log.ts";
import { DEVICE_ACTIONS, DEVICE_ACTIONS_A_DAY, DEVICE_REFETCHES } from "./edge/device-page/limits.ts";
import { earlierKeys } from "./hosts/disk-encryption/history.ts";
import { wrongSecrets } from "./hosts/enrollment/secret-check.ts";
import { actionOutput } from "./hosts/host-actions/kinds.ts";
import { emailsLimit } from "./hosts/hosts/emails.ts";
import { identifierLimit } from "./hosts/hosts/identifier.ts";
import { batteriesLimit } from "./hosts/hosts/inventory/batteries.ts";
import { usersLimit } from "./hosts/hosts/inventory/users.ts";
import { agentRuns } from "./hosts/managed-agents/machines.ts";
import { munkiIssuesLimit } from "./hosts/munki/ingest.ts";
import { storedScriptOutput } from "./hosts/operations/script-output.ts";
import { ERROR_TEXT, ERRORS_OF_HOST } from "./hosts/query-errors/errors.ts";
import { deviceToken } from "./inventory/device-tokens/tokens.ts";
import {
  campaignBytes,
  keptLiveQueries,
  liveAnswers,
  liveBytes,
  liveCell,
  liveError,
  liveRows,
} from "./inventory/live-queries/limits.ts";
import { sockets } from "./inventory/live-queries/websocket/sockets.ts";
import { unknownSockets } from "./inventory/live-queries/websocket/unknown-sockets.ts";
import { HOST_ACTIVITIES } from "./platform/activities/by-host.ts";
import { storedText } from "./platform/agent-protocol/rows.ts";
import { bodyLimits } from "./platform/agent-protocol/wire.ts";
import { formLimit } from "./platform/core/http/body.ts";
import { roomLimits } from "./platform/core/http/body-room.ts";
import { strangerLimits } from "./platform/core/http/stranger-budgets.ts";
import { strangerBody } from "./platform/core/http/strangers.ts";
import type { Limit } from "./platform/core/limits.ts";
import { SHARED_NAMES } from "./platform/host-limits/shared-names.ts";
import { samlParts, samlResponse } from "./platform/saml/response.ts";
import { ADDED_SOFTWARE, ENTRIES, PATH_TEXT, PATHS } from "./software/software/additions.ts";
import { softwarePath } from "./software/software/reported-rows/read.ts";

/** All limits of what hosts, devices and strangers may send, by the area of docs/limits.md in which they stand. */
export const limits: Readonly<Record<string, readonly Limit[]>> = {
  Strangers: [
    ...Object.values(strangerLimits),
    strangerBody,
    formLimit,
    ...Object.values(strangerBodies),
    wrongSecrets,
    ...Object.values(unknownSockets),
    sockets,
    ...roomLimits,
    samlResponse,
    samlParts,
    deviceToken,
  ],
  "Query agents": [...bodyLimits, identifierLimit, linesLimit, ...resultLimits, ERROR_TEXT, ERRORS_OF_HOST],
  "Live queries and reports": [
    liveRows,
    liveBytes,
    liveCell,
    liveError,
    liveAnswers,
    campaignBytes,
    keptLiveQueries,
    reportRows,
    reportText,
    reportColumns,
    waitingReports,
    failureLines,
    failureText,
  ],
  "File carves": [carveBlocks, carveNames],
  "Managed agents": [
    agentKey,
    ...fieldLimits,
    scriptOutput,
    storedScriptOutput,
    installOutput,
    storedInstallOutput,
    actionOutput,
    agentRuns,
    identityUuid,
  ],
  "Certificates and keys": [certificateSubject, certificateNames, unconfirmedCertificates, earlierKeys, sealedKey],
  Inventory: [
    storedText,
    usersLimit,
    batteriesLimit,
    certificatesLimit,
    ENTRIES,
    PATHS,
    PATH_TEXT,
    softwarePath,
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
    HOST_CERTIFICATES,
    DEVICE_REFETCHES,
    DEVICE_ACTIONS,
    DEVICE_ACTIONS_A_DAY,
  ],
  "Apple devices": [
    ...Object.values(appleTexts),
    appleFact,
    appleUsers,
    machineInfo,
    machineInfoText,
    machineInfoCertificates,
    statusReport,
    statusDetail,
  ],
  "Windows devices": [
    ...windowsDeviceLimits,
    windowsAnswer,
    windowsDetail,
    windowsOutput,
    windowsMissing,
    deviceSerial,
  ],
  "Android devices": [...Object.values(androidLimits), androidResult],
};
