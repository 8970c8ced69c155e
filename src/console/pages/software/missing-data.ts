/** Said where vulnerabilities are shown, so that "none" and "not known" differ. Null: data were imported. */
export const missingData = (reply: { readonly vulnerability_data_imported_at: string | null }): string | null =>
  reply.vulnerability_data_imported_at === null
    ? "Vulnerability data was never imported, so nothing is known about vulnerabilities."
    : null;
