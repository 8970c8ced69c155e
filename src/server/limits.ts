import { HOST_ACTIVITIES } from "./activities/by-host.ts";
import { strangerBodies } from "./agent/http/answer.ts";
import { resultLimits } from "./agent/ingest/results.ts";
import { UNASKED } from "./agent/ingest/unasked.ts";
import { linesLimit } from "./agent/logs/log.ts";
import { storedText } from "./agent-protocol/rows.ts";
import { bodyLimits } from "./agent-protocol/wire.ts";
import { carveBlocks, carveNames } from "./carves/rules.ts";
import { STATUS_DETAIL } from "./certificates/hosts.ts";
import { certificatesLimit } from "./certificates/inventory.ts";
import { unconfirmedCertificates } from "./conditional-access/certificates.ts";
import { formLimit } from "./core/http/body.ts";
import { roomLimits } from "./core/http/body-room.ts";
import { strangerBody, strangerLimits } from "./core/http/strangers.ts";
import type { Limit } from "./core/limits.ts";
import { certificateNames, certificateSubject, HOST_CERTIFICATES } from "./device-ca/issue.ts";
import { DEVICE_ACTIONS, DEVICE_ACTIONS_A_DAY, DEVICE_REFETCHES } from "./device-page/limits.ts";
import { deviceToken } from "./device-page/tokens.ts";
import { earlierKeys } from "./disk-encryption/history.ts";
import { wrongSecrets } from "./enrollment/secret-check.ts";
import { actionOutput } from "./host-actions/kinds.ts";
import { SHARED_NAMES } from "./host-limits/shared-names.ts";
import { emailsLimit } from "./hosts/emails.ts";
import { identifierLimit } from "./hosts/identifier.ts";
import { batteriesLimit } from "./hosts/inventory/batteries.ts";
import { usersLimit } from "./hosts/inventory/users.ts";
import {
  campaignBytes,
  keptLiveQueries,
  liveAnswers,
  liveBytes,
  liveCell,
  liveError,
  liveRows,
} from "./live-queries/limits.ts";
import { sockets } from "./live-queries/socket.ts";
import { unknownSockets } from "./live-queries/unknown-sockets.ts";
import { agentKey } from "./managed-agent/agents.ts";
import { fieldLimits } from "./managed-agent/field-limits.ts";
import { identityUuid } from "./managed-agent/identity.ts";
import { agentRuns } from "./managed-agent/machines.ts";
import { scriptOutput } from "./managed-agent/routes.ts";
import { androidResult } from "./mdm/android/commands/answers.ts";
import { androidLimits } from "./mdm/android/devices/report.ts";
import { appleFact, appleTexts, appleUsers } from "./mdm/apple/channel/limits.ts";
import { statusDetail, statusReport } from "./mdm/apple/declarations/status.ts";
import { machineInfo, machineInfoCertificates, machineInfoText } from "./mdm/apple/enroll/machine-info.ts";
import { sealedKey } from "./mdm/apple/filevault/key.ts";
import { windowsAnswer, windowsDetail } from "./mdm/windows/channel/answers.ts";
import { windowsDeviceLimits } from "./mdm/windows/enroll/enroll.ts";
import { deviceSerial } from "./mdm/windows/joins/serial.ts";
import { windowsMissing, windowsOutput } from "./mdm/windows/profiles/inventory.ts";
import { munkiIssuesLimit } from "./munki/ingest.ts";
import { storedScriptOutput } from "./operations/script-output.ts";
import { SCHEDULE_STATISTICS } from "./packs/inventory.ts";
import { reportColumns, reportRows, reportText } from "./queries/answers.ts";
import { failureLines, failureText } from "./queries/failures.ts";
import { waitingReports } from "./queries/reports.ts";
import { ERROR_TEXT, ERRORS_OF_HOST } from "./query-errors/errors.ts";
import { samlParts, samlResponse } from "./saml/response.ts";
import { ADDED_SOFTWARE, ENTRIES, PATH_TEXT, PATHS } from "./software/additions.ts";
import { softwarePath } from "./software/rows.ts";
import { installOutput } from "./software-installs/agent.ts";
import { storedInstallOutput } from "./software-installs/kinds.ts";

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
