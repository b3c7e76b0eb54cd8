import CAvahi

/// A session that keeps one service published. Belongs to the thread of ``AvahiThread``.
final class PublishSession: AvahiSession {
  /// The maximum number of renames in a row before the connection is given up.
  private static let maximumRenames = 32

  private let type: String
  private let port: UInt16
  private let record: () -> (txt: [[UInt8]], version: Int)
  private let report: (AdvertisingEvent) -> Void
  private var name: String
  private var group: OpaquePointer?
  private var groupChanged = false
  /// The version of the record that avahi-daemon has, while the group is committed.
  private var publishedVersion: Int?
  private var isReportedUnavailable = false

  init(
    name: String, type: String, port: UInt16, record: @escaping () -> (txt: [[UInt8]], version: Int),
    report: @escaping (AdvertisingEvent) -> Void
  ) {
    self.name = name
    self.type = type
    self.port = port
    self.record = record
    self.report = report
  }

  // MARK: The daemon

  func daemonChanged(to state: AvahiDaemonState, on connection: AvahiConnection) throws(DiscoveryError) {
    switch state {
    case .running:
      try publish(on: connection)
    case .choosingHostName:
      // The records contain the host name, so they are made again once the host has its name.
      withdraw()
    case .absent:
      unavailable(.daemonNotRunning)
    }
  }

  func step(on connection: AvahiConnection) throws(DiscoveryError) {
    if groupChanged, let group {
      groupChanged = false
      switch AvahiEntryGroupState(rawValue: UInt32(bitPattern: avahi_entry_group_get_state(group))) {
      case AVAHI_ENTRY_GROUP_ESTABLISHED:
        isReportedUnavailable = false
        report(.published(name: name))
      case AVAHI_ENTRY_GROUP_COLLISION:
        rename()
        try publish(on: connection)
      case AVAHI_ENTRY_GROUP_FAILURE:
        connection.giveUp(connection.lastError)
      default:
        break
      }
    }
    try updateRecord(on: connection)
  }

  func connectionBroke(_ reason: DiscoveryError) {
    group = nil
    groupChanged = false
    publishedVersion = nil
    unavailable(reason)
  }

  private func unavailable(_ reason: DiscoveryError) {
    if !isReportedUnavailable { report(.daemonUnavailable(reason)) }
    isReportedUnavailable = true
  }

  // MARK: The service

  private func publish(on connection: AvahiConnection) throws(DiscoveryError) {
    withdraw()
    if group == nil {
      group = avahi_entry_group_new(
        connection.client,
        { _, _, context in
          guard let context else { return }
          // The context is the session, which outlives every connection.
          Unmanaged<PublishSession>.fromOpaque(context).takeUnretainedValue().groupChanged = true
        }, Unmanaged.passUnretained(self).toOpaque())
    }
    guard let group else { return try refused(connection.lastError, on: connection) }
    let record = record()
    var code = add(record.txt, to: group)
    var renames = 0
    while code == AVAHI_ERR_COLLISION.asCode, renames < Self.maximumRenames {
      renames += 1
      rename()
      withdraw()
      code = add(record.txt, to: group)
    }
    if code == AVAHI_OK.asCode { code = avahi_entry_group_commit(group) }
    guard code == AVAHI_OK.asCode else { return try refused(AvahiConnection.error(code), on: connection) }
    publishedVersion = record.version
  }

  private func add(_ txt: [[UInt8]], to group: OpaquePointer) -> Int32 {
    AvahiValues.withList(of: txt) { list in
      avahi_entry_group_add_service_strlst(
        group, AVAHI_IF_UNSPEC.asCode, AVAHI_PROTO_UNSPEC.asCode, AvahiPublishFlags(rawValue: 0), name, type, nil, nil,
        port, list)
    }
  }

  private func updateRecord(on connection: AvahiConnection) throws(DiscoveryError) {
    guard let group, let publishedVersion else { return }
    let record = record()
    guard record.version != publishedVersion else { return }
    let code = AvahiValues.withList(of: record.txt) { list in
      avahi_entry_group_update_service_txt_strlst(
        group, AVAHI_IF_UNSPEC.asCode, AVAHI_PROTO_UNSPEC.asCode, AvahiPublishFlags(rawValue: 0), name, type, nil, list)
    }
    guard code == AVAHI_OK.asCode else { return try refused(AvahiConnection.error(code), on: connection) }
    self.publishedVersion = record.version
  }

  private func withdraw() {
    publishedVersion = nil
    if let group { avahi_entry_group_reset(group) }
  }

  private func rename() {
    guard let alternative = avahi_alternative_service_name(name) else { return }
    defer { avahi_free(alternative) }
    let next = String(cString: alternative)
    report(.renamed(from: name, to: next))
    name = next
  }

  /// Throws errors that would recur; for all others, gives up the connection so that a new one is tried.
  private func refused(_ error: DiscoveryError, on connection: AvahiConnection) throws(DiscoveryError) {
    switch error {
    case .publishingNotPermitted:
      throw error
    case .avahi(let code, _) where Self.finalCodes.contains(Int(code)):
      throw error
    default:
      connection.giveUp(error)
    }
  }

  private static let finalCodes: Set<Int> = [
    AVAHI_ERR_INVALID_SERVICE_NAME, AVAHI_ERR_INVALID_SERVICE_TYPE, AVAHI_ERR_INVALID_PORT,
    AVAHI_ERR_INVALID_RECORD, AVAHI_ERR_INVALID_ARGUMENT, AVAHI_ERR_NOT_SUPPORTED,
  ]
}
