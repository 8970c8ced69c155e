// What each page is about, and where the same is in the documentation, the command line and the API.
import type { RouteName } from "../routes.ts";

export interface Help {
  readonly about: string;
  /** A section of the documentation, which is in the repository of the project. */
  readonly docs: { readonly file: string; readonly section: string };
  /** The command, without `svc`. */
  readonly command: string;
  /** The operation of the API, and its request. */
  readonly operation: string;
  readonly call: string;
}

const consoleDocs = (section: string) => ({ file: "docs/console.md", section });

const host: Help = {
  about:
    "One host: what it is, what fails on it and why, what is installed, and what was and will be done on it. The menu Actions locks, wipes and the like.",
  docs: { file: "docs/operations.md", section: "Lock, unlock, wipe" },
  command: "hosts get",
  operation: "hosts.get",
  call: "GET /hosts/:id",
};

const settings: Help = {
  about:
    "The configuration of the server, its users and teams, and the secrets and tokens with which hosts and programs sign in.",
  docs: { file: "docs/operations.md", section: "Settings, and who changed them" },
  command: "config get",
  operation: "app-config.get",
  call: "GET /config",
};

export const helpTexts: Readonly<Record<RouteName, Help>> = {
  dashboard: {
    about: "How the hosts are, and what needs somebody. Every figure opens its hosts.",
    docs: consoleDocs("The console"),
    command: "hosts summary",
    operation: "hosts.summary",
    call: "GET /host_summary",
  },
  hosts: {
    about:
      "The computers and mobile devices that you manage. Search, the selector and filters narrow the list; what is selected can be moved, deleted or queried.",
    docs: { file: "docs/cli.md", section: "I want just these hosts" },
    command: "hosts list",
    operation: "hosts.list",
    call: "GET /hosts",
  },
  addHosts: {
    about: "The command or profile with which new hosts enroll. Hosts appear here as they come.",
    docs: { file: "docs/agent.md", section: "On new hosts" },
    command: "agent enroll-command",
    operation: "new-hosts.createToken",
    call: "POST /enroll_tokens",
  },
  host,
  hostTab: host,
  labels: {
    about: "Labels group hosts by a query, by criteria, or by hand: for queries, policies, profiles and software.",
    docs: { file: "docs/cli.md", section: "I want hosts in labels" },
    command: "labels list",
    operation: "labels.list",
    call: "GET /labels",
  },
  software: {
    about: "What is installed on hosts, the versions of their systems, and the vulnerabilities of both.",
    docs: { file: "docs/vulnerabilities.md", section: "Where vulnerabilities are shown" },
    command: "software list",
    operation: "software.titles",
    call: "GET /software/titles",
  },
  softwareTitle: {
    about: "One title: its versions, the hosts that have it, its vulnerabilities, and the packages that install it.",
    docs: { file: "docs/operations.md", section: "Packages" },
    command: "software get",
    operation: "software.title",
    call: "GET /software/titles/:id",
  },
  vulnerability: {
    about: "One vulnerability: how severe it is, and which software on which hosts has it.",
    docs: { file: "docs/vulnerabilities.md", section: "How software is matched" },
    command: "vulnerabilities get",
    operation: "vulnerabilities.get",
    call: "GET /vulnerabilities/:cve",
  },
  policies: {
    about: "Policies are questions with yes or no as the answer. The list shows how many hosts pass and fail.",
    docs: { file: "docs/cli.md", section: "I want to check hosts against a policy" },
    command: "policies list",
    operation: "policies.listGlobal",
    call: "GET /global/policies",
  },
  policy: {
    about: "One policy: its query, what happens when a host fails, and the hosts by their answer.",
    docs: { file: "docs/cli.md", section: "I want to check hosts against a policy" },
    command: "policies get",
    operation: "policies.getGlobal",
    call: "GET /global/policies/:id",
  },
  queries: {
    about: "Queries ask hosts for data: once, or on a schedule that stores a report.",
    docs: { file: "docs/cli.md", section: "I want hosts to run a query on a schedule" },
    command: "queries list",
    operation: "queries.list",
    call: "GET /queries",
  },
  query: {
    about: "One query: its SQL, its schedule, what it costs the hosts, and its report.",
    docs: { file: "docs/cli.md", section: "I want hosts to run a query on a schedule" },
    command: "queries get",
    operation: "queries.get",
    call: "GET /queries/:id",
  },
  newLiveQuery: {
    about:
      "A live query asks hosts that are online now. Choose the hosts and the SQL; the number of hosts is counted as you type.",
    docs: { file: "docs/cli.md", section: "I want to query hosts immediately" },
    command: "queries run",
    operation: "live-queries.create",
    call: "POST /queries/live",
  },
  liveQuery: {
    about:
      "The answers to a live query as they arrive: rows, hosts without rows, errors, and hosts that are still waited for.",
    docs: { file: "docs/operations.md", section: "Live queries" },
    command: "queries live get",
    operation: "live-queries.get",
    call: "GET /queries/live/:id",
  },
  controls: {
    about:
      "What is configured on hosts: profiles, certificates, disk encryption, updates, and what was sent to devices.",
    docs: { file: "docs/gitops-files.md", section: "Configuration profiles" },
    command: "mdm profiles list",
    operation: "profiles.list",
    call: "GET /mdm/profiles",
  },
  configurationProfile: {
    about: "One configuration profile: what is in it, and the hosts by how far they are with it.",
    docs: { file: "docs/gitops-files.md", section: "Configuration profiles" },
    command: "mdm profiles get",
    operation: "profiles.get",
    call: "GET /mdm/profiles/:profile_uuid",
  },
  activity: {
    about: "Who did what. Verify checks that no entry was changed or removed.",
    docs: { file: "docs/operations.md", section: "Who did what, and whether the record was changed" },
    command: "activities list",
    operation: "activities.list",
    call: "GET /activities",
  },
  changes: {
    about: "What waits for a second person, and what the servers are doing: tasks and batches of scripts.",
    docs: { file: "docs/operations.md", section: "Protection against accidental wipes and deletes" },
    command: "approvals list",
    operation: "approvals.list",
    call: "GET /approvals",
  },
  profile: {
    about: "Your account: how you sign in, where you are signed in, your API tokens, and how the console looks.",
    docs: consoleDocs("What is stored for you"),
    command: "users settings",
    operation: "users.me",
    call: "GET /me",
  },
  settings,
  settingsSection: settings,
  settingsItem: {
    about: "One user: roles, how they sign in, sessions and tokens.",
    docs: { file: "docs/operations.md", section: "Users and programs" },
    command: "users get",
    operation: "users.get",
    call: "GET /users/:id",
  },
  welcome: {
    about: "What is left to do on a new server: its name and address, the first host, a colleague.",
    docs: { file: "docs/tutorial.md", section: "2. Enroll hosts" },
    command: "agent enroll-command",
    operation: "app-config.modify",
    call: "PATCH /config",
  },
};
