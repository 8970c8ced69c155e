import type { Family } from "./platforms.ts";

const words = (text: string) => text.trim().split(/\s+/);

const COMMON = words(`
  arp_cache atom_packages azure_instance_metadata azure_instance_tags carbon_black_info carves chrome_extension_content_scripts curl
  curl_certificate cpu_time cpuid ec2_instance_metadata ec2_instance_tags etc_hosts etc_protocols etc_services file hash
  intel_me_info jetbrains_plugins kernel_info listening_ports logged_in_users memory_devices osquery_events osquery_extensions
  osquery_packs pci_devices platform_info process_memory_map process_open_sockets processes routes secureboot ssh_configs
  startup_items time time_machine_backups yara ycloud_instance_metadata`);

const UNIX = words(`
  authorized_keys block_devices crontab device_file device_hash device_partitions dns_resolvers docker_container_labels
  docker_container_mounts docker_container_networks docker_container_ports docker_container_processes docker_container_stats
  docker_containers docker_image_labels docker_images docker_info docker_network_labels docker_networks docker_version
  docker_volumes hardware_events known_hosts last load_average magic mounts opera_extensions process_envs process_events
  process_open_files prometheus_metrics shell_history smbios_tables socket_events sudoers suid_bin system_controls ulimit_info
  usb_devices user_events user_groups user_ssh_keys yara_events file_events acpi_tables augeas`);

const ONLY: Record<Family, string[]> = {
  darwin: [
    ...UNIX,
    ...words(`
      account_policy_data ad_config alf alf_exceptions alf_explicit_auths app_schemes apps asl authorization_mechanisms
      authorizations battery browser_plugins connected_displays crashes cups_destinations cups_jobs device_firmware disk_events
      es_process_events event_taps extended_attributes fan_speed_sensors gatekeeper gatekeeper_approved_apps homebrew_packages
      ibridge_info iokit_devicetree iokit_registry kernel_extensions kernel_panics keychain_acls keychain_items launchd
      launchd_overrides location_services managed_policies mdfind mdls nfs_shares nvram package_bom package_install_history
      package_receipts password_policy plist power_sensors preferences quicklook_cache running_apps safari_extensions sandboxes
      screenlock shared_folders sharing_preferences signature sip_config smc_keys system_extensions temperature_sensors
      unified_log user_interaction_events virtual_memory_info wifi_networks wifi_status wifi_survey xprotect_entries xprotect_meta
      xprotect_reports`),
  ],
  linux: [
    ...UNIX,
    ...words(`
      apparmor_events apparmor_profiles apt_sources bpf_process_events bpf_socket_events deb_packages deb_package_files
      disk_encryption elf_dynamic elf_info elf_sections elf_segments elf_symbols interface_ipv6 iptables kernel_keys kernel_modules
      lxd_certificates lxd_cluster lxd_images lxd_instances lxd_networks lxd_storage_pools md_devices md_drives md_personalities
      memory_array_mapped_addresses memory_arrays memory_error_info memory_info memory_map msr npm_packages oem_strings
      portage_keywords portage_packages portage_use process_file_events process_namespaces rpm_package_files rpm_packages
      seccomp_events selinux_events selinux_settings shadow shared_memory syslog_events systemd_units yum_sources`),
  ],
  windows: words(`
    appcompat_shims authenticode autoexec background_activities_moderator battery bitlocker_info chassis_info chocolatey_packages
    cpu_info default_environment deviceguard_status disk_info dns_cache drivers hvci_status ie_extensions kva_speculative_info
    logical_drives logon_sessions ntdomains ntfs_acl_permissions ntfs_journal_events office_mru patches physical_disk_performance
    pipes platform_info powershell_events prefetch process_etw_events programs registry scheduled_tasks security_profile_info
    services shared_resources shellbags shimcache tpm_info userassist video_info winbaseobj windows_crashes windows_eventlog
    windows_events windows_firewall_rules windows_optional_features windows_search windows_security_center
    windows_security_products windows_update_history wmi_bios_info wmi_cli_event_consumers wmi_event_filters
    wmi_filter_consumer_binding wmi_script_event_consumers`),
};

const tablesByFamily: Record<Family, ReadonlySet<string>> = {
  darwin: new Set([...COMMON, ...ONLY.darwin]),
  linux: new Set([...COMMON, ...ONLY.linux]),
  windows: new Set([...COMMON, ...ONLY.windows]),
};

/** The tables that a stock agent of this family has, including those for which the simulator has no rows. */
export function agentTables(family: Family): ReadonlySet<string> {
  return tablesByFamily[family];
}
