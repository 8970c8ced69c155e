/** The page of a run of a script on many hosts. */
export const batchHref = (id: string): string => `/controls?tab=batches&batch=${encodeURIComponent(id)}`;
