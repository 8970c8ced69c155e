/** The owner of settings for hosts without a team. */
export const NO_TEAM_NAME = "No team";
