/** The paths of the console's pages. The server answers them with the console; `pages.ts` says what they show. */
export const routes = {
  dashboard: "/",
  hosts: "/hosts",
  addHosts: "/hosts/new",
  host: "/hosts/:id",
  hostTab: "/hosts/:id/:tab",
  labels: "/labels",
  software: "/software",
  softwareTitle: "/software/titles/:id",
  vulnerability: "/vulnerabilities/:cve",
  policies: "/policies",
  policy: "/policies/:id",
  queries: "/queries",
  newLiveQuery: "/queries/live/new",
  liveQuery: "/queries/live/:id",
  query: "/queries/:id",
  controls: "/controls",
  configurationProfile: "/controls/profiles/:uuid",
  activity: "/activity",
  changes: "/changes",
  profile: "/profile",
  settings: "/settings",
  settingsSection: "/settings/:section",
  settingsItem: "/settings/:section/:id",
  welcome: "/welcome",
} as const;

export type RouteName = keyof typeof routes;
export const consolePaths: readonly string[] = Object.values(routes);
