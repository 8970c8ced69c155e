// The activity types with their details.
import type { AccountActivities } from "./types/accounts.ts";
import type { CertificateActivities } from "./types/certificates.ts";
import type { CheckActivities } from "./types/checks.ts";
import type { DeviceActivities } from "./types/devices.ts";
import type { HostActivities } from "./types/hosts.ts";
import type { SettingsActivities } from "./types/settings.ts";
import type { SoftwareActivities } from "./types/software.ts";

export interface ActivityTypes
  extends AccountActivities,
    CertificateActivities,
    CheckActivities,
    DeviceActivities,
    HostActivities,
    SettingsActivities,
    SoftwareActivities {}
