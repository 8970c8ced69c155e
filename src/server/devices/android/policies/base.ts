/** What every policy contains: the device reports what the inventory shows. Profiles cannot change it. */
export const basePolicy = {
  statusReportingSettings: {
    applicationReportsEnabled: true,
    deviceSettingsEnabled: true,
    softwareInfoEnabled: true,
    memoryInfoEnabled: true,
    networkInfoEnabled: true,
    hardwareStatusEnabled: true,
    applicationReportingSettings: { includeRemovedApps: false },
  },
} as const;
