// Details that activities of several topics have.
export interface TeamDetails {
  team_id: number | null;
  team_name: string | null;
}

export type Nothing = Record<string, never>;

export interface HostDetails {
  host_id: number;
  host_display_name: string;
}
