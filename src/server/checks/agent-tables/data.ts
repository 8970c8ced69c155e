/**
 * Tables of query engines (osquery) and of the managed agent, one a line: name, platforms, platforms of the managed agent, E if it is a table
 * of events, description, columns. Platforms: d darwin, l linux, w windows. Columns: * required in WHERE, - hidden, :i INTEGER, :b BIGINT,
 * :d DOUBLE, others TEXT.
 */
export const TABLE_LINES = `
account_policy_data|d|||Policies of local accounts.|uid:b creation_time:d failed_login_count:b failed_login_timestamp:d password_last_set_time:d
ad_config|d|||Active Directory configuration.|name domain option value
alf|d|||Settings of the application firewall.|allow_signed_enabled:i firewall_unload:i global_state:i logging_enabled:i logging_option:i stealth_enabled:i version
alf_exceptions|d|||Apps that the application firewall lets through or blocks.|path state:i
alf_explicit_auths|d|||Processes that the application firewall allows explicitly.|process
apk_packages|l|l|||name version arch origin description url license maintainer size:b build_time:b
app_schemes|d|||URL schemes that apps handle.|scheme handler enabled:i external:i protected:i
apparmor_events|l||E|Denials and changes that AppArmor logs.|type message time:b uptime:b -eid apparmor operation parent:b profile name pid:b comm denied_mask capname fsuid:b ouid:b capability:b requested_mask info error namespace label
apparmor_profiles|l|||Profiles that AppArmor has loaded.|path name attach mode sha1
appcompat_shims|w|||Application compatibility databases.|executable path description install_time:i type sdb_id
apps|d|d|||name path bundle_executable bundle_identifier bundle_name bundle_short_version bundle_version bundle_package_type environment element compiler development_region display_name info_string minimum_system_version category applescript_enabled copyright last_opened_time:d
apt_sources|l|l|||name source base_uri release version maintainer components architectures
arp_cache|dlw|l|||address mac interface permanent
asl|d|||Entries of the Apple system log.|time:i time_nano_sec:i host sender facility pid:i gid:b uid:b level:i message ref_pid:i ref_proc extra
atom_packages|dlw|||Packages of the Atom editor.|name version description path license homepage uid:b
augeas|dl|dl|||node value label path
authenticode|w|||Code signatures of files.|*path original_program_name serial_number issuer_name subject_name result
authorization_mechanisms|d|||Mechanisms of authorization rights.|label plugin mechanism privileged entry
authorizations|d|||Rights of the authorization database.|label modified allow_root timeout version tries authenticate_user shared comment created class session_owner
authorized_keys|dl|dl|||uid:b algorithm key options comment key_file
autoexec|w|||What starts by itself.|path name source
azure_instance_metadata|dlw|||Metadata of an instance in Azure.|location name offer publisher sku version os_type platform_update_domain platform_fault_domain vm_id vm_size subscription_id resource_group_name placement_group_id vm_scale_set_name zone
background_activities_moderator|w|||Programs that ran in the background.|path last_execution_time:b sid
battery|dw|dw|||manufacturer manufacture_date model serial_number cycle_count:i health condition state charging:i charged:i designed_capacity:i max_capacity:i current_capacity:i percent_remaining:i amperage:i voltage:i minutes_until_empty:i minutes_to_full_charge:i chemistry
bitlocker_info|w|w|||device_id drive_letter persistent_volume_id conversion_status:i protection_status:i encryption_method version:i percentage_encrypted:i lock_status:i
bitlocker_key_protectors|w|w|||drive_letter key_protector_type:i
block_devices|dl|l|||name parent vendor model serial size:b block_size:i uuid type label
bpf_process_events|l||E|Processes that start, by BPF.|tid:b pid:b parent:b uid:b gid:b cid:i exit_code probe_error:i syscall path cwd cmdline duration:i json_cmdline ntime time:b -eid:i
bpf_socket_events|l||E|Sockets that are opened, by BPF.|tid:b pid:b parent:b uid:b gid:b cid:i exit_code probe_error:i syscall path fd family:i type:i protocol:i local_address remote_address local_port:i remote_port:i duration:i ntime time:b -eid:i
browser_plugins|d|||Plugins of browsers.|uid:b name identifier version sdk description development_region native:i path disabled:i
carves|dlw|||Files and folders that the agent uploads.|time:b sha256 size:i path status carve_guid request_id carve:i
certificates|dlw|dw|||common_name subject issuer ca:i self_signed:i not_valid_before:b not_valid_after:b signing_algorithm key_algorithm key_strength key_usage subject_key_id authority_key_id sha1 path serial sid store_location store username store_id
chocolatey_packages|w|w|||name version summary author license path
chrome_extensions|dlw|dlw|||browser_type uid:b name profile profile_path referenced_identifier identifier version description default_locale current_locale update_url author persistent:i path permissions permissions_json optional_permissions optional_permissions_json manifest_hash referenced:b from_webstore state install_time install_timestamp:b manifest_json key
connectivity|w|||State of the network.|disconnected:i ipv4_no_traffic:i ipv6_no_traffic:i ipv4_subnet:i ipv4_local_network:i ipv4_internet:i ipv6_subnet:i ipv6_local_network:i ipv6_internet:i
cpu_info|dlw|||Processors.|device_id model manufacturer processor_type cpu_status:i number_of_cores logical_processors:i address_width current_clock_speed:i max_clock_speed:i socket_designation availability load_percentage:i number_of_efficiency_cores:i number_of_performance_cores:i
cpu_time|dl|||Time that processors spent.|core:i user:b nice:b system:b idle:b iowait:b irq:b softirq:b steal:b guest:b guest_nice:b
cpuid|dlw|||Features of processors.|feature value output_register output_bit:i input_eax
crashes|d|||Logs of crashes.|type pid:b path crash_path identifier version parent:b responsible uid:i datetime crashed_thread:b stack_trace exception_type exception_codes exception_notes registers
crontab|dl|dl|||event minute hour day_of_month month day_of_week command path
cups_destinations|d|||Printers.|name option_name option_value
cups_jobs|d|||Print jobs.|title destination user format size:i completed_time:i processing_time:i creation_time:i
curl|dlw|||Requests a URL.|*url method user_agent response_code:i round_trip_time:b bytes:b result
curl_certificate|dlw|||Certificates of TLS servers.|*hostname common_name organization organization_unit serial_number issuer_common_name issuer_organization issuer_organization_unit valid_from valid_to sha256_fingerprint sha1_fingerprint version:i signature_algorithm signature subject_key_identifier authority_key_identifier key_usage extended_key_usage policies subject_alternative_names issuer_alternative_names info_access subject_info_access policy_mappings has_expired:i basic_constraint name_constraints policy_constraints dump_certificate:i timeout:i pem
deb_packages|l|l|||name version source size:b arch revision status maintainer section priority admindir
default_environment|w|||Default environment variables.|variable value expand:i
device_file|l|||Files of a device or image.|*device *partition path filename inode:b uid:b gid:b mode size:b block_size:i atime:b mtime:b ctime:b hard_links:i type
device_firmware|d|||Firmware of devices.|type device version
device_hash|l|||Hashes of blocks of a device.|*device *partition *inode:b md5 sha1 sha256
device_partitions|l|||Partitions of a device.|*device partition:i label type offset:b blocks_size:b blocks:b inodes:b flags:i
disk_encryption|dl|dl|||name uuid encrypted:i type encryption_status uid user_uuid filevault_status
disk_events|d||E|Disk images that are mounted.|action path name device uuid size:b ejectable:i mountable:i writable:i content media_name vendor filesystem checksum time:b -eid
disk_info|w|||Disks.|partitions:i disk_index:i type id pnp_device_id disk_size:b manufacturer hardware_model name serial description
dns_cache|w|||Names in the DNS cache.|name type flags:i
dns_resolvers|dl|dl|||id:i type address netmask options:b
docker_container_labels|dl|||Labels of containers.|id key value
docker_container_mounts|dl|||Mounts of containers.|id type name source destination driver mode rw:i propagation
docker_container_networks|dl|||Networks of containers.|id name network_id endpoint_id gateway ip_address ip_prefix_len:i ipv6_gateway ipv6_address ipv6_prefix_len:i mac_address
docker_container_ports|dl|||Ports of containers.|id type port:i host_ip host_port:i
docker_container_processes|dl|||Processes of containers.|*id pid:b name cmdline state uid:b gid:b euid:b egid:b suid:b sgid:b wired_size:b resident_size:b total_size:b start_time:b parent:b pgroup:b threads:i nice:i user time cpu:d mem:d
docker_containers|dl|||Containers of Docker.|id name image image_id command created:b state status pid:b path config_entrypoint started_at finished_at privileged:i security_options env_variables readonly_rootfs:i cgroup_namespace ipc_namespace mnt_namespace net_namespace pid_namespace user_namespace uts_namespace
docker_images|dl|||Images of Docker.|id created:b size_bytes:b tags
docker_info|dl|||Docker itself.|id containers:i containers_running:i containers_paused:i containers_stopped:i images:i storage_driver memory_limit:i swap_limit:i kernel_memory:i cpu_cfs_period:i cpu_cfs_quota:i cpu_shares:i cpu_set:i ipv4_forwarding:i bridge_nf_iptables:i bridge_nf_ip6tables:i oom_kill_disable:i logging_driver cgroup_driver kernel_version os os_type architecture cpus:i memory:b http_proxy https_proxy no_proxy name server_version root_dir
docker_networks|dl|||Networks of Docker.|id name driver created:b enable_ipv6:i subnet gateway
docker_version|dl|||Version of Docker.|version api_version min_api_version git_commit go_version os arch kernel_version build_time
docker_volumes|dl|||Volumes of Docker.|name driver mount_point type
drivers|w|||Drivers of devices.|device_id device_name image description service service_key version inf class provider manufacturer driver_key date:b signed:i
ec2_instance_metadata|dlw|||Metadata of an instance in EC2.|instance_id instance_type architecture region availability_zone local_hostname local_ipv4 mac security_groups iam_arn ami_id reservation_id account_id ssh_public_key
ec2_instance_tags|dlw|||Tags of an instance in EC2.|instance_id key value
elf_info|l|||Headers of ELF files.|class abi abi_version:i type machine:i version:i entry:b flags:i *path
es_process_events|d||E|Processes that start and end, by Endpoint Security.|version:b seq_num:b global_seq_num:b pid:b path parent:b original_parent:b cmdline cmdline_count:b env env_count:b cwd uid:b euid:b gid:b egid:b username signing_id team_id cdhash platform_binary:i exit_code:i child_pid:b time:b event_type codesigning_flags -eid
es_process_file_events|d||E|Files that processes change, by Endpoint Security.|version:b seq_num:b global_seq_num:b pid:b parent:b path filename dest_filename event_type time:b -eid
etc_hosts|dlw|dlw|||address hostnames
etc_protocols|dlw|||Protocols of /etc/protocols.|name number:i alias comment
etc_services|dlw|||Services of /etc/services.|name port:i protocol aliases comment
event_taps|d|||Taps of input events.|enabled:i event_tap_id:i event_tapped process_being_tapped:i tapping_process:i
extended_attributes|dl|||Extended attributes of files.|*path *directory key value base64:i
fan_speed_sensors|d|||Fans.|fan name actual:i min:i max:i target:i
file|dlw|dlw|||*path *directory filename inode:b uid:b gid:b mode device:b size:b block_size:i atime:b mtime:b ctime:b btime:b hard_links:i symlink:i type symlink_target_path attributes volume_serial file_id file_version product_version original_filename bsd_flags shortcut_target_path shortcut_target_type shortcut_target_location shortcut_start_in shortcut_run shortcut_comment
file_events|dl||E|Changes of files that are watched.|target_path category action transaction_id:b inode:b uid:b gid:b mode size:b atime:b mtime:b ctime:b md5 sha1 sha256 hashed:i time:b -eid
firefox_addons|dlw|dlw|||uid:b name identifier creator type version description source_url visible:i active:i disabled:i autoupdate:i location path
gatekeeper|d|||Settings of Gatekeeper.|assessments_enabled:i dev_id_enabled:i version opaque_version
gatekeeper_approved_apps|d|||Apps that Gatekeeper lets run.|path requirement ctime:d mtime:d
groups|dlw|dlw|||gid:b gid_signed:b groupname group_sid comment is_hidden:i
hardware_events|dl||E|Devices that are attached and removed.|action path type driver vendor vendor_id model model_id serial revision time:b -eid
hash|dlw|dlw|||*path *directory md5 sha1 sha256
homebrew_packages|dl|d|||name path version type auto_updates:i app_name prefix
ibridge_info|d|||The security chip of the Mac.|boot_uuid coprocessor_version firmware_version unique_chip_id
ie_extensions|w|w|||name registry_path version path
intel_me_info|lw|||Version of Intel's management engine.|version
interface_addresses|dlw|dlw|||interface address mask broadcast point_to_point type friendly_name
interface_details|dlw|dlw|||interface mac type:i mtu:i metric:i flags:i ipackets:b opackets:b ibytes:b obytes:b ierrors:b oerrors:b idrops:b odrops:b collisions:b last_change:b link_speed:b pci_slot friendly_name description manufacturer connection_id connection_status enabled:i physical_adapter:i speed:i service dhcp_enabled:i dhcp_lease_expires:b dhcp_lease_obtained:b dhcp_server dns_domain dns_domain_suffix_search_order dns_host_name dns_server_search_order
interface_ipv6|dl|||IPv6 of interfaces.|interface hop_limit:i forwarding_enabled:i redirect_accept:i rtadv_accept:i
iokit_devicetree|d|||Device tree of IOKit.|name class id:b parent:b device_path service:i busy_state:i retain_count:i depth:i
iokit_registry|d|||Registry of IOKit.|name class id:b parent:b busy_state:i retain_count:i depth:i
iptables|l|||Rules of the firewall.|filter_name chain policy target protocol:i src_port dst_port src_ip src_mask iniface iniface_mask dst_ip dst_mask outiface outiface_mask match packets:i bytes:i
kernel_extensions|d|||Kernel extensions that are loaded.|idx:i refs:i size:b name version linked_against path
kernel_info|dlw|dlw|||version arguments path device
kernel_modules|l|l|||name size:b used_by status address
kernel_panics|d|||Kernel panics.|path time registers frame_backtrace module_backtrace dependencies name os_version kernel_version system_model uptime:b last_loaded last_unloaded
keychain_acls|d|||Access to items of keychains.|keychain_path authorizations path description label
keychain_items|d|||Items of keychains.|label description comment account created modified type path pk_hash
known_hosts|dl|||Hosts that SSH knows.|uid:b key key_file
kva_speculative_info|w|||Mitigations of speculative execution.|kva_shadow_enabled:i kva_shadow_user_global:i kva_shadow_pcid:i kva_shadow_inv_pcid:i bp_mitigations:i bp_system_pol_disabled:i bp_microcode_disabled:i cpu_spec_ctrl_supported:i ibrs_support_enabled:i stibp_support_enabled:i cpu_pred_cmd_supported:i
last|dl|||Logins and logouts.|username tty pid:i type:i type_name time:i host
launchd|d|||Services and agents of launchd.|path name label program run_at_load keep_alive on_demand disabled username groupname stdout_path stderr_path start_interval program_arguments watch_paths queue_directories inetd_compatibility start_on_mount root_directory working_directory process_type
launchd_overrides|d|||Overrides of launchd.|label key value uid:b path
listening_ports|dlw|dlw|||pid:i port:i protocol:i family:i address fd:b socket:b path net_namespace
load_average|dl|dl|||period average
location_services|d|||Whether location services are on.|enabled:i
logged_in_users|dlw|dlw|||type user tty host time:b pid:i sid registry_hive
logical_drives|w|w|||device_id type description free_space:b size:b file_system boot_partition:i
logon_sessions|w|||Sessions of users.|logon_id:i user logon_domain authentication_package logon_type session_id:i logon_sid logon_time:b logon_server dns_domain_name upn logon_script profile_path home_directory home_directory_drive
lxd_images|l|||Images of LXD.|id architecture os release description aliases filename size:b auto_update:i cached:i public:i created_at expires_at uploaded_at last_used_at update_source_server update_source_protocol update_source_certificate update_source_alias
magic|dl|||What kind of file a file is.|*path magic_db_files data mime_type mime_encoding
managed_policies|d|||Preferences that are managed.|domain uuid name value username manual:i
md_devices|l|||Software RAID.|device_name status raid_level:i size:b chunk_size:b raid_disks:i nr_raid_disks:i working_disks:i active_disks:i failed_disks:i spare_disks:i superblock_state superblock_version superblock_update_time:b bitmap_on_mem bitmap_chunk_size bitmap_external_file recovery_progress recovery_finish recovery_speed resync_progress resync_finish resync_speed reshape_progress reshape_finish reshape_speed check_array_progress check_array_finish check_array_speed unused_devices other
mdfind|d|||Files that Spotlight finds.|path *query
mdls|d|||Metadata of files in Spotlight.|*path key value valuetype
memory_array_mapped_addresses|l|||Addresses of memory arrays.|handle memory_array_handle starting_address ending_address partition_width:i
memory_arrays|l|||Memory arrays.|handle location use memory_error_correction max_capacity:i memory_error_info_handle number_memory_devices:i
memory_devices|dlw|||Memory modules.|handle array_handle form_factor total_width:i data_width:i size:i set:i device_locator bank_locator memory_type memory_type_details max_speed:i configured_clock_speed:i manufacturer serial_number asset_tag part_number min_voltage:i max_voltage:i configured_voltage:i
memory_info|l|l|||memory_total:b memory_free:b memory_available:b buffers:b cached:b swap_cached:b active:b inactive:b swap_total:b swap_free:b
memory_map|l|||Memory regions.|name start end
mounts|dl|dl|||device device_alias path type blocks_size:b blocks:b blocks_free:b blocks_available:b inodes:b inodes_free:b flags
msr|l|||Model-specific registers.|processor_number:b turbo_disabled:b turbo_ratio_limit:b platform_info:b perf_ctl:b perf_status:b feature_control:b rapl_power_limit:b rapl_energy_status:b rapl_power_units:b
nfs_shares|d|||Folders that are shared by NFS.|share options readonly:i
npm_packages|dlw|dlw|||name version description author license homepage path directory depth:i
ntdomains|w|||Windows domains.|name client_site_name dc_site_name dns_forest_name domain_controller_address domain_controller_name domain_name status
ntfs_acl_permissions|w|||Permissions of files on NTFS.|*path type principal access inherited_from
ntfs_journal_events|w||E|Changes of files on NTFS.|action category old_path path record_timestamp record_usn node_ref_number parent_ref_number drive_letter file_attributes partial:b time:b -eid
nvram|d|||Variables of the firmware.|name type value
office_mru|w|||Files that Office opened lately.|application version path last_opened_time:b sid
orbit_info|dlw|dlw|||version device_auth_token enrolled:i last_recorded_error orbit_channel osqueryd_channel desktop_channel desktop_version uptime:b scripts_enabled:i
os_version|dlw|dlw|||name version major:i minor:i patch:i build platform platform_like codename arch extra install_date:b
osquery_events|dlw|||Publishers and subscribers of events.|name publisher type subscriptions:i events:i refreshes:i active:i
osquery_extensions|dlw|||Extensions of the agent.|uuid:b name version sdk_version path type
osquery_flags|dlw|dlw|||name type description default_value value shell_only:i
osquery_info|dlw|dlw|||pid:i uuid instance_id version config_hash config_valid:i extensions build_platform build_distro start_time:i watcher:i platform_mask:i
osquery_packs|dlw|||Packs of queries.|name platform version shard:i discovery_cache_hits:i discovery_executions:i active:i
osquery_registry|dlw|dlw|||registry name owner_uuid:i internal:i active:i
osquery_schedule|dlw|dlw|||name query interval:i executions:b last_executed:b denylisted:i output_size:b wall_time:b wall_time_ms:b last_wall_time_ms:b user_time:b last_user_time:b system_time:b last_system_time:b average_memory:b last_memory:b
package_bom|d|||Files of packages.|filepath uid:i gid:i mode:i size:b modified_time:i *path
package_install_history|d|||Packages that were installed.|package_id time:i name version source content_type
package_receipts|d|||Receipts of packages.|package_id package_filename version location install_time:d installer_name path
pacman_packages|l|l|||name version arch description url license packager size:b install_time:b
password_policy|d|||Password policies.|uid:b policy_identifier policy_content policy_description
patches|w|||Updates that are installed.|csname hotfix_id caption description fix_comments installed_by install_date installed_on
pci_devices|dl|||PCI devices.|pci_slot pci_class driver vendor vendor_id model model_id
physical_disk_performance|w|||Performance of disks.|name avg_disk_bytes_per_read:b avg_disk_bytes_per_write:b avg_disk_read_queue_length:b avg_disk_write_queue_length:b avg_disk_sec_per_read:i avg_disk_sec_per_write:i current_disk_queue_length:i percent_disk_read_time:b percent_disk_write_time:b percent_disk_time:b percent_idle_time:b
pipes|w|||Named pipes.|pid:b name instances:i max_instances:i flags
platform_info|dlw|dlw|||vendor version date revision extra address size volume_size:i firmware_type
plist|d|||Values of property lists.|key subkey value *path
portage_packages|l|l|||package version slot build_time:b repository eapi:b size:b world:b
power_sensors|d|||Power sensors.|key category name value
powershell_events|w||E|PowerShell scripts that run.|time:b datetime script_block_id script_block_count:i script_text script_name script_path cosine_similarity:d
preferences|d|||Preferences of apps.|domain key subkey value forced:i username host
prefetch|w|||Prefetched programs.|path filename hash last_run_time:i other_run_times run_count:i size:i volume_serial volume_creation accessed_files_count:i accessed_directories_count:i accessed_files accessed_directories
process_envs|dl|||Environments of processes.|pid:i key value
process_events|dl||E|Processes that start.|pid:b path mode cmdline cmdline_size:b env env_count:b env_size:b cwd auid:b uid:b euid:b gid:b egid:b owner_uid:b owner_gid:b atime:b mtime:b ctime:b btime:b overflows parent:b time:b uptime:b -eid status:i fsuid:b suid:b fsgid:b sgid:b syscall
process_file_events|l||E|Files that processes change.|operation pid:b ppid:b time:b executable partial cwd path dest_path uid gid auid euid egid fsuid fsgid suid sgid uptime:b -eid
process_memory_map|dlw|||Memory of processes.|*pid:i start end permissions offset:b device inode:i path pseudo:i
process_namespaces|l|||Namespaces of processes.|pid:i cgroup_namespace ipc_namespace mnt_namespace net_namespace pid_namespace user_namespace uts_namespace
process_open_files|dl|||Files that processes have open.|pid:b fd:b path
process_open_pipes|l|||Pipes of processes.|pid:b fd:b mode inode:b type partner_pid:b partner_fd:b partner_mode
process_open_sockets|dlw|l|||pid:i fd:b socket:b family:i protocol:i local_address remote_address local_port:i remote_port:i path state net_namespace
processes|dlw|dlw|||pid:b name path cmdline state cwd root uid:b gid:b euid:b egid:b suid:b sgid:b on_disk:i wired_size:b resident_size:b total_size:b user_time:b system_time:b disk_bytes_read:b disk_bytes_written:b start_time:b parent:b pgroup:b threads:i nice:i is_elevated_token:i elapsed_time:b handle_count:b percent_processor_time:b upid uppid cpu_type cpu_subtype translated cgroup_path secure_process:i protection_type virtual_process:i
programs|w|w|||name version install_location install_source language publisher uninstall_string install_date identifying_number package_family_name upgrade_code
prometheus_metrics|dl|||Metrics of Prometheus.|target_name metric_name metric_value:d timestamp_ms:b
python_packages|dlw|dlw|||name version summary author license path directory uid:b
quicklook_cache|d|||Thumbnails of Quick Look.|path rowid:i fs_id volume_id:i inode:i mtime:i size:b label last_hit_date:i hit_count icon_mode:b cache_path
registry|w|w|||key path name type data mtime:b
routes|dlw|dlw|||destination netmask:i gateway source flags:i interface mtu:i metric:i type hopcount:i
rpm_packages|l|l|||name version release source size:b sha1 arch epoch:i install_time:i vendor package_group
running_apps|d|||Apps that run.|pid:i bundle_identifier is_active:i
safari_extensions|d|||Extensions of Safari.|uid:b name identifier version sdk description path bundle_version copyright extension_type
sandboxes|d|||Sandboxes of apps.|label user enabled:i build_id bundle_path path
scheduled_tasks|w|||Tasks of the task scheduler.|name action path enabled:i state hidden:i last_run_time:b next_run_time:b last_run_message last_run_code
screenlock|d|||Screen lock of the user.|enabled:i grace_period:i
seccomp_events|l||E|System calls that seccomp has stopped.|time:b uptime:b auid:b uid:b gid:b ses:b pid:b comm exe sig:b arch syscall compat:i ip code -eid
secureboot|dlw|l|||secure_boot:i secure_mode:i description kernel_extensions:i mdm_operations:i setup_mode:i
selinux_events|l||E|Messages of SELinux.|type message time:b uptime:b -eid
selinux_settings|l|||Settings of SELinux.|scope key value
services|w|||Services.|name service_type display_name status pid:i start_type win32_exit_code:i service_exit_code:i path module_path description user_account
shadow|l|l|||password_status hash_alg last_change:b min:b max:b warning:b inactive:b expire:b flag:b username
shared_folders|d|||Folders that are shared.|name path
shared_memory|l|||Shared memory.|shmid:i owner_uid:b creator_uid:b pid:b creator_pid:b atime:b dtime:b ctime:b permissions size:b attached:i status locked:i
shared_resources|w|||Resources that are shared.|description install_date status allow_maximum:i maximum_allowed:i name path type:i type_name
sharing_preferences|d|||What the Mac shares.|screen_sharing:i file_sharing:i printer_sharing:i remote_login:i remote_management:i remote_apple_events:i internet_sharing:i bluetooth_sharing:i disc_sharing:i content_caching:i
shell_history|dl|||Commands of shells.|uid:b time:i command history_file
shellbags|w|||Folders that were opened.|sid source path modified_time:b created_time:b accessed_time:b mft_entry:b mft_sequence:i
shimcache|w|||Programs of the application compatibility cache.|entry:i path modified_time:i execution_flag:i
signature|d|||Code signatures.|*path hash_resources:i arch signed:i identifier cdhash team_identifier authority
sip_config|d|||System Integrity Protection.|config_flag enabled:i enabled_nvram:i
smbios_tables|dl|||SMBIOS.|number:i type:i description handle:i header_size:i size:i md5
smc_keys|d|||Keys of the system management controller.|key type size:i value hidden:i
socket_events|dl||E|Sockets that are opened.|action pid:b path fd auid:b status family:i protocol:i local_address remote_address local_port:i remote_port:i socket time:b uptime:b -eid success:i
ssh_configs|dlw|||Configurations of SSH clients.|uid:b block option ssh_config_file
startup_items|dw|||What starts with the system or at sign-in.|name path args type source status username
sudoers|dl|dl|||source header rule_details
suid_bin|dl|||Programs that run with rights of another user.|path username groupname permissions
syslog_events|l||E|Messages of syslog.|time:b datetime host severity:i facility tag message -eid
system_controls|dl|||Parameters of the kernel.|name oid subsystem current_value config_value type field_name
system_extensions|d|||System extensions.|path UUID state identifier version category bundle_path team mdm_managed:i
system_info|dlw|dlw|||hostname uuid cpu_type cpu_subtype cpu_brand cpu_physical_cores:i cpu_logical_cores:i cpu_sockets:i cpu_microcode physical_memory:b hardware_vendor hardware_model hardware_version hardware_serial board_vendor board_model board_version board_serial computer_name local_hostname emulated_cpu_type
systemd_units|l|l|||id description load_state active_state sub_state following object_path job_id:b job_type job_path fragment_path user source_path unit_file_state
temperature_sensors|d|||Temperatures.|key name celsius:d fahrenheit:d
time|dlw|dlw|||weekday year:i month:i day:i hour:i minutes:i seconds:i timezone local_timezone unix_time:i timestamp datetime iso_8601 win_timestamp:b
time_machine_backups|d|||Backups of Time Machine.|destination_id backup_date:i
time_machine_destinations|d|||Destinations of Time Machine.|alias destination_id consistency_scan_date:i root_volume_uuid bytes_available:i bytes_used:i encryption
tpm_info|w|||The TPM.|activated:i enabled:i owned:i manufacturer_version manufacturer_id:i manufacturer_name product_name physical_presence_version spec_version
ulimit_info|dl|||Limits of the agent's process.|type soft_limit hard_limit
unified_log|d|||Entries of the unified log.|timestamp:b storage:i message activity:b process pid:b thread:b sender category subsystem level max_rows:i predicate
uptime|dlw|dlw|||days:i hours:i minutes:i seconds:i total_seconds:b
usb_devices|dl|||USB devices.|usb_address:i usb_port:i vendor vendor_id version model model_id serial class subclass protocol removable:i
user_events|dl||E|Sign-ins and other events of users.|uid:b auid:b pid:b message type:i path address terminal time:b uptime:b -eid
user_groups|dlw|dl|||uid:b gid:b
user_interaction_events|d||E|Keyboard and mouse events.|time:b
user_ssh_keys|dlw|||Private SSH keys of users.|uid:b path encrypted:i key_type key_group_name key_length:i key_security_bits:i
userassist|w|||Programs that users started.|path last_execution_time:b count:i sid
users|dlw|dlw|||uid:b gid:b uid_signed:b gid_signed:b username description directory shell uuid type is_hidden:i
video_info|w|||Graphics adapters.|color_depth:i driver driver_date:b driver_version manufacturer model series video_mode
virtual_memory_info|d|||Virtual memory.|free:b active:b inactive:b speculative:b throttled:b wired:b purgeable:b faults:b copy:b zero_fill:b reactivated:b purged:b file_backed:b anonymous:b uncompressed:b compressor:b decompressed:b compressed:b page_ins:b page_outs:b swap_ins:b swap_outs:b
vscode_extensions|dlw|dlw|||name uuid version path publisher publisher_id installed_at:b prerelease:i uid:b vscode_edition
wifi_networks|d|||Wi-Fi networks that the Mac knows.|ssid network_name security_type last_connected:i passpoint:i possibly_hidden:i roaming:i roaming_profile auto_login:i temporarily_disabled:i disabled:i add_reason added_at:i captive_portal:i captive_login_date:i was_captive_network:i personal_hotspot:i
wifi_status|d|||The Wi-Fi network in use.|interface ssid bssid network_name country_code security_type rssi:i noise:i channel:i channel_width:i channel_band:i transmit_rate mode
wifi_survey|d|||Wi-Fi networks nearby.|interface ssid bssid network_name country_code rssi:i noise:i channel:i channel_width:i channel_band:i
winbaseobj|w|||Named objects of sessions.|session_id:i object_name object_type
windows_crashes|w|||Crashes of programs.|datetime module path pid:b tid:b version process_uptime:b stack_trace exception_code exception_message exception_address registers command_line current_directory username machine_name major_version:i minor_version:i build_number:i type crash_path
windows_eventlog|w|||Entries of event logs.|*channel datetime task:i level:i provider_name provider_guid computer_name eventid:i keywords data pid:i tid:i time_range timestamp xpath
windows_events|w||E|Entries of event logs, as they come.|time:b datetime source provider_name provider_guid computer_name eventid:i task:i level:i keywords data -eid
windows_firewall_rules|w|||Rules of the firewall.|name app_name action enabled:i grouping direction protocol local_addresses remote_addresses local_ports remote_ports icmp_types_codes profile_domain:i profile_private:i profile_public:i service_name
windows_optional_features|w|w|||name caption state:i statename
windows_security_center|w|||State of security products.|firewall autoupdate antivirus antispyware internet_settings windows_security_center_service user_account_control
windows_security_products|w|||Security products.|type name state state_timestamp remediation_path signatures_up_to_date:i
windows_update_history|w|||Updates that were installed.|client_app_id date:b description hresult:b operation result_code server_selection service_id support_url title update_id update_revision:b
wmi_bios_info|w|||Settings of the BIOS.|name value
wmi_cli_event_consumers|w|||WMI consumers that run commands.|name command_line_template executable_path class relative_path
wmi_event_filters|w|||WMI filters of events.|name query query_language class relative_path
wmi_filter_consumer_binding|w|||WMI bindings of filters and consumers.|consumer filter class relative_path
wmi_script_event_consumers|w|||WMI consumers that run scripts.|name scripting_engine script_file_name script_text class relative_path
xprotect_entries|d|||Signatures of XProtect.|name launch_type identity filename filetype optional:i uses_pattern:i
xprotect_meta|d|||Extensions that XProtect blocks.|identifier type developer_id min_version
xprotect_reports|d|||Matches of XProtect.|name user_action time
yara|dlw|||Matches of YARA rules.|*path matches count:i sig_group sigfile sigrule strings tags sigurl
yara_events|dl||E|Matches of YARA rules in files that change.|target_path category action transaction_id:b matches count:i strings tags time:b -eid
yum_sources|l|||Sources of yum.|name baseurl mirrorlist enabled gpgcheck gpgkey pkg_path
`;
