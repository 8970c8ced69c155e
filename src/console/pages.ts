// What each path shows. Every page is a file of its own, which is loaded when it is first opened.
import { type ComponentType, lazy } from "react";
import type { RouteName } from "./routes.ts";

type Load = () => Promise<{ readonly default: ComponentType }>;

const host: Load = () => import("./pages/inventory/host-details/host-page.tsx");

const settings: Load = () => import("./pages/settings/settings-page.tsx");

const loads: Readonly<Record<RouteName, Load>> = {
  dashboard: () => import("./pages/inventory/dashboard/dashboard-page.tsx"),
  hosts: () => import("./pages/inventory/hosts/hosts-page.tsx"),
  addHosts: () => import("./pages/delivery/new-hosts/add-hosts-page.tsx"),
  host,
  hostTab: host,
  labels: () => import("./pages/hosts/labels/labels-page.tsx"),
  software: () => import("./pages/software/software/software-page.tsx"),
  softwareTitle: () => import("./pages/software/software/title-page.tsx"),
  vulnerability: () => import("./pages/software/vulnerabilities/vulnerability-page.tsx"),
  policies: () => import("./pages/checks/policies/policies-page.tsx"),
  policy: () => import("./pages/checks/policies/policy-page.tsx"),
  queries: () => import("./pages/checks/queries/queries-page.tsx"),
  query: () => import("./pages/checks/queries/query-page.tsx"),
  newLiveQuery: () => import("./pages/inventory/live-queries/new-live-query-page.tsx"),
  liveQuery: () => import("./pages/inventory/live-queries/live-query-page.tsx"),
  configurationProfile: () => import("./pages/devices/profiles/profile-page.tsx"),
  controls: () => import("./pages/controls/controls-page.tsx"),
  changes: () => import("./pages/changes/changes-page.tsx"),
  welcome: () => import("./pages/settings/setup/welcome-page.tsx"),
  profile: () => import("./pages/accounts/profile/profile-page.tsx"),
  settings,
  settingsSection: settings,
  settingsItem: settings,
  activity: () => import("./pages/platform/activities/activity-page.tsx"),
};

export const pages = Object.fromEntries(
  Object.entries(loads).map(([name, load]) => [name, lazy(load)]),
) as unknown as Readonly<Record<RouteName, ComponentType>>;
