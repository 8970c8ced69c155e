// Settings as fields of a form.

interface BaseField {
  /** The place in the configuration, which errors of the server name too: `org_info.org_name`. */
  readonly path: string;
  readonly label: string;
  readonly hint?: string;
  /** Whether it can be set only on the premium tier. */
  readonly isPremium?: boolean;
}

export type ConfigField = BaseField &
  (
    | { readonly kind: "text" | "url" | "email" | "number" | "check" | "document" | "json" | "lines" }
    /** A text that the server masks, and that is not shown while it is typed. */
    | { readonly kind: "secret" }
    /** The name of a team; empty: no team. */
    | { readonly kind: "team" }
    | { readonly kind: "select"; readonly options: readonly { readonly value: string; readonly label: string }[] }
  );

export interface ConfigGroup {
  /** Empty if the section has one group. */
  readonly title: string;
  readonly fields: readonly ConfigField[];
}

export interface SettingChange {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}
