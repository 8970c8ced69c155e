// References to tables of a wing or a room that comes later.
export const references = `
ALTER TABLE mail_opt_outs ADD CONSTRAINT mail_opt_outs_team_id_fkey
  FOREIGN KEY (team_id) REFERENCES teams ON DELETE CASCADE;
ALTER TABLE one_time_tokens ADD CONSTRAINT one_time_tokens_user_id_fkey
  FOREIGN KEY (user_id) REFERENCES users ON DELETE CASCADE;
ALTER TABLE uploads ADD CONSTRAINT uploads_user_id_fkey
  FOREIGN KEY (user_id) REFERENCES users ON DELETE CASCADE;
ALTER TABLE host_usage ADD CONSTRAINT host_usage_host_id_fkey
  FOREIGN KEY (host_id) REFERENCES hosts ON DELETE CASCADE;
ALTER TABLE tasks ADD CONSTRAINT tasks_requested_by_fkey
  FOREIGN KEY (requested_by) REFERENCES users ON DELETE SET NULL;
ALTER TABLE user_teams ADD CONSTRAINT user_teams_team_id_fkey
  FOREIGN KEY (team_id) REFERENCES teams ON DELETE CASCADE;
ALTER TABLE invite_teams ADD CONSTRAINT invite_teams_team_id_fkey
  FOREIGN KEY (team_id) REFERENCES teams ON DELETE CASCADE;
ALTER TABLE host_vital_values ADD CONSTRAINT host_vital_values_host_id_fkey
  FOREIGN KEY (host_id) REFERENCES hosts ON DELETE CASCADE;
ALTER TABLE query_errors ADD CONSTRAINT query_errors_policy_id_fkey
  FOREIGN KEY (policy_id) REFERENCES policies ON DELETE CASCADE;
ALTER TABLE query_errors ADD CONSTRAINT query_errors_query_id_fkey
  FOREIGN KEY (query_id) REFERENCES queries ON DELETE CASCADE;
`;
