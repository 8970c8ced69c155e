// What the server records of the past, and which vulnerabilities charts count unless a request says otherwise. No zod: the
// console imports it.

/** Data about the past that can be turned off, for the organization and for each team. */
export const historyDatasets = ["uptime", "vulnerabilities"] as const;
export type HistoryDataset = (typeof historyDatasets)[number];

/** Kinds of software by which charts of vulnerabilities are narrowed down. */
export const softwareFilters = ["os", "browsers", "office", "adobe"] as const;
export type SoftwareFilter = (typeof softwareFilters)[number];
