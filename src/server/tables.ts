// Every table of the server, in the order in which rows can be created (what is referred to comes first).
import { activities } from "./activities/tables.ts";
import { configSections } from "./app-config/tables.ts";
import { carves } from "./carves/tables.ts";
import { deviceTokens, managedAgents } from "./device/tables.ts";
import { enrollSecrets } from "./enroll-secrets/tables.ts";
import { hostDetails, hostEmails, hostSeen, hosts, osVersions } from "./hosts/tables.ts";
import { jobRuns } from "./jobs/tables.ts";
import { labelMembers, labels } from "./labels/tables.ts";
import { campaignHosts, campaigns } from "./live-queries/tables.ts";
import { hostBootstrap, hostDiskEncryption, hostMdm, hostProfiles, mdmSolutions } from "./mdm/tables.ts";
import { hostMunki, munkiIssues } from "./munki/tables.ts";
import { packs, packTargets, scheduledQueries } from "./packs/tables.ts";
import {
  hostPolicies,
  policies,
  policyCountChanges,
  policyEvents,
  policyLabels,
  policyResultIds,
} from "./policies/tables.ts";
import { queries, queryLabels, queryResults } from "./queries/tables.ts";
import { hostActions, scriptRuns } from "./scripts/tables.ts";
import { sessions } from "./sessions/tables.ts";
import { hostSoftware, osCves, software, softwareCves, softwareInstalls, softwareTitles } from "./software/tables.ts";
import type { Store, Tx } from "./store/store.ts";
import { teams } from "./teams/tables.ts";
import { users, userTeams } from "./users/tables.ts";

export const tables = {
  teams,
  users,
  userTeams,
  sessions,
  enrollSecrets,
  configSections,
  activities,
  osVersions,
  hosts,
  hostSeen,
  hostDetails,
  hostEmails,
  labels,
  labelMembers,
  softwareTitles,
  software,
  hostSoftware,
  softwareCves,
  osCves,
  softwareInstalls,
  policies,
  policyLabels,
  hostPolicies,
  policyResultIds,
  policyCountChanges,
  policyEvents,
  queries,
  queryLabels,
  queryResults,
  packs,
  packTargets,
  scheduledQueries,
  campaigns,
  campaignHosts,
  carves,
  scriptRuns,
  hostActions,
  managedAgents,
  deviceTokens,
  mdmSolutions,
  hostMdm,
  hostProfiles,
  hostDiskEncryption,
  hostBootstrap,
  munkiIssues,
  hostMunki,
  jobRuns,
};

export type ServerStore = Store<typeof tables>;
/** The store as logic takes it: whole, or inside a transaction. */
export type ServerTx = Tx<typeof tables>;
