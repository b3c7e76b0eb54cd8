import Cryptography
import Foundation
import HealthFormats

/// A calendar on a CalDAV server (RFC 4791), limited to the events that hpeer writes.
actor CalendarCollection {
  /// The result of writing an event.
  enum Outcome: Hashable, Sendable {
    case done
    /// The server refused the event permanently.
    case refused(reason: String)
  }

  /// The beginning of the names of hpeer's events; events with other names are never touched.
  static let prefix = "hpeer-"
  private static let suffix = ".ics"
  /// The property with the event's digest. Equal digests prevent a rewrite, so that a person's additions stay.
  private static let digest = "X-HPEER-DIGEST"
  /// The property with the identifier of the event's record, because a family may share a calendar.
  private static let record = "X-HPEER-RECORD"
  /// The destination that wrote the event. Two destinations of a record may share a calendar, each with other events.
  private static let destination = "X-HPEER-DESTINATION"

  private let service: HTTPService
  /// The URL of the calendar, with a slash at its end.
  private let url: String
  private let authorization: [(name: String, value: String)]
  /// The display name of a calendar that is created; `nil` if a missing calendar is an error.
  private let displayName: String?
  private let record: String
  private let destination: String
  /// The names of hpeer's events in the calendar; `nil` before they were listed.
  private var names: Set<String>?
  /// The key of the current delivery. The properties below list the events it has written (with digests) and deleted.
  private var delivery: DeliveryKey?
  private var written: [String: String] = [:]
  private var deleted: Set<String> = []
  /// The names of other records' events, found while deleting.
  private var foreign: Set<String> = []

  /// - Parameters:
  ///   - record: what no other has.
  ///   - destination: what no other destination of the record has.
  init(
    _ service: HTTPService, url: String, authorization: [(name: String, value: String)], displayName: String?,
    record: String, destination: String
  ) {
    self.service = service
    self.url = url.hasSuffix("/") ? url : url + "/"
    self.authorization = authorization
    self.displayName = displayName
    self.record = record
    self.destination = destination
  }

  // MARK: Events

  /// Starts a delivery, or resumes it if the key is the same: events that it has already written are skipped, because
  /// asking for each would take longer than writing did.
  func begin(_ key: DeliveryKey) {
    if delivery != key { (written, deleted, foreign) = ([:], [], []) }
    delivery = key
  }

  /// Returns the names of the events written in this delivery, workouts before days, and of those deleted.
  func namesOfDelivery() -> (written: [String], deleted: Set<String>) {
    (written.keys.sorted { ($0.count, $0) < ($1.count, $1) }, deleted)
  }

  /// Returns whether an event with this name exists.
  func isThere(_ name: String) async throws -> Bool {
    let response = try await request("GET", name)
    switch response.status {
    case 200 where response.isPage: throw Self.unexpected(response)
    case 200...299: return true
    case 404, 409, 410: return false
    default: throw HTTPService.failure(response) ?? Self.unexpected(response)
    }
  }

  /// Deletes this record's events that were not written in this delivery, and events without a record, which an
  /// earlier version wrote.
  func deleteOld() async throws {
    for name in try await list().subtracting(written.keys).subtracting(foreign).sorted() {
      if try await isForeign(name) {
        foreign.insert(name)
      } else {
        try await delete(name)
      }
    }
  }

  private func isForeign(_ name: String) async throws -> Bool {
    let present = try await request("GET", name)
    switch present.status {
    case 200 where present.isPage: throw Self.unexpected(present)
    case 200...299:
      return Self.text(of: Self.record, in: present.body).map { $0 != record } ?? false
        || Self.text(of: Self.destination, in: present.body).map { $0 != destination } ?? false
    case 404, 410: return false
    default: throw HTTPService.failure(present) ?? Self.unexpected(present)
    }
  }

  /// Writes an event, replacing an earlier version, unless the existing event has the same digest.
  func put(_ event: CalendarEvent, named name: String) async throws -> Outcome {
    let digest = Self.digest(of: event)
    guard
      let body = event.calendar([
        (Self.digest, digest), (Self.record, record), (Self.destination, destination),
      ])
    else {
      return .refused(reason: "a calendar has no such year")
    }
    if written[name] == digest { return .done }
    var response = try await write(body, name, ("If-None-Match", "*"))
    if [404, 409].contains(response.status) {
      // Another program may have created the calendar in the meantime.
      if try await isMissing() { try await make() }
      response = try await write(body, name, ("If-None-Match", "*"))
    }
    if response.status == 412 {
      let present = try await request("GET", name)
      if Self.text(of: Self.digest, in: present.body) == digest { return done(name, digest) }
      guard present.status == 200 else {
        throw DeliveryError.temporary(reason: "an event was changed at the same time")
      }
      let tag = present.header("ETag")
      // A weak ETag cannot be used in If-Match (RFC 9110, section 13.1.1).
      let condition = tag.flatMap { $0.hasPrefix("W/") ? nil : ("If-Match", $0) }
      response = try await write(body, name, condition)
      if response.status == 412 { throw DeliveryError.temporary(reason: "an event was changed at the same time") }
    }
    switch response.status {
    case 200 where response.isPage: throw Self.unexpected(response)
    case 200...299: return done(name, digest)
    case 400, 413, 415, 422: return .refused(reason: "it answers \(response.status)")
    case 403 where Self.refuses(response.body):
      return .refused(reason: "it answers 403: it has no place for this event")
    default: throw HTTPService.failure(response) ?? Self.unexpected(response)
    }
  }

  /// Deletes an event; does nothing if there is none.
  func delete(_ name: String) async throws {
    written[name] = nil
    deleted.insert(name)
    let response = try await request("DELETE", name)
    switch response.status {
    case 200 where response.isPage: throw Self.unexpected(response)
    case 200...299, 404, 410: names?.remove(name)
    default: throw HTTPService.failure(response) ?? Self.unexpected(response)
    }
  }

  /// Returns the names of all of hpeer's events in the calendar.
  func list() async throws -> Set<String> {
    if let names { return names }
    let response = try await request(
      "PROPFIND", "", [("Depth", "1"), ("Content-Type", "application/xml; charset=utf-8")],
      #"<?xml version="1.0" encoding="utf-8"?><propfind xmlns="DAV:"><prop><getetag/></prop></propfind>"#)
    let status = Self.status(of: response)
    if [404, 409].contains(status), displayName != nil {
      // The calendar is created with the first event.
      names = []
      return []
    }
    if let error = HTTPService.failure(response) { throw error }
    if [404, 410].contains(status) {
      throw DeliveryError.unusable(reason: "there is no calendar at this address: is url right? create = true makes it")
    }
    guard status == 207 else { throw Self.unexpected(response) }
    let found = Set(MultistatusNames.names(in: response.body).filter(Self.isName))
    names = found
    return found
  }

  /// Returns the resource name of an event.
  ///
  /// - Parameter key: a unique key of the event: lower-case letters, digits and hyphens.
  static func name(_ key: String) -> String { prefix + key + suffix }

  /// Returns whether a name is that of an hpeer event. Other names, percent-decoded, might lead out of the calendar.
  static func isName(_ name: String) -> Bool {
    guard name.hasPrefix(prefix), name.hasSuffix(suffix), name.utf8.count <= 200 else { return false }
    return name.utf8.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count).allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || byte == UInt8(ascii: "-")
    }
  }

  private func done(_ name: String, _ digest: String) -> Outcome {
    names?.insert(name)
    written[name] = digest
    return .done
  }

  private static func digest(of event: CalendarEvent) -> String {
    SHA256.hash(data: event.calendar() ?? []).prefix(16).map { String(format: "%02x", $0) }.joined()
  }

  /// Returns the value of a property. Lines are unfolded first, because servers may fold them elsewhere.
  private static func text(of name: String, in body: [UInt8]) -> String? {
    String(decoding: body, as: UTF8.self).replacing("\r\n ", with: "").replacing("\n ", with: "")
      .split(whereSeparator: \.isNewline).first { $0.hasPrefix("\(name):") }.map {
        String($0.dropFirst(name.count + 1))
      }
  }

  /// Returns whether a 403 concerns the event itself (RFC 4791, section 5.3.2.1) and not permissions.
  private static func refuses(_ body: [UInt8]) -> Bool {
    let text = String(decoding: body.prefix(16_384), as: UTF8.self)
    return [
      "valid-calendar-data", "valid-calendar-object-resource", "supported-calendar-component", "no-uid-conflict",
      "max-resource-size", "min-date-time", "max-date-time",
    ].contains { text.contains($0) }
  }

  // MARK: The calendar

  private func isMissing() async throws -> Bool {
    [404, 409].contains(try await statusOfCalendar())
  }

  /// Returns the status of the calendar: 207 if it exists.
  private func statusOfCalendar() async throws -> Int {
    Self.status(of: try await request("PROPFIND", "", [("Depth", "0")]))
  }

  /// Returns the status of an answer to PROPFIND. A server may report a missing resource within a 207 answer (RFC
  /// 4918, section 13).
  static func status(of response: HTTPService.Response) -> Int {
    guard response.status == 207 else { return response.status }
    let text = String(decoding: response.body.prefix(64 * 1_024), as: UTF8.self)
    let answers = XMLElements.all("response", in: text)
    guard answers.count == 1, XMLElements.all("propstat", in: answers[0]).isEmpty,
      let line = XMLElements.first("status", in: answers[0])
    else { return 207 }
    return line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 207
  }

  private func make() async throws {
    guard let displayName else {
      throw DeliveryError.unusable(reason: "there is no calendar at this address: is url right? create = true makes it")
    }
    let name = Self.escaped(displayName)
    let response = try await request(
      "MKCALENDAR", "", [("Content-Type", "application/xml; charset=utf-8")],
      """
      <?xml version="1.0" encoding="utf-8"?><C:mkcalendar xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:set><D:prop>\
      <D:displayname>\(name)</D:displayname><C:supported-calendar-component-set><C:comp name="VEVENT"/>\
      </C:supported-calendar-component-set></D:prop></D:set></C:mkcalendar>
      """)
    if let error = HTTPService.failure(response) { throw error }
    if (200...299).contains(response.status) { return }
    // Another program may have created it in the meantime, or a proxy has sent the request twice.
    if try await statusOfCalendar() == 207 { return }
    throw DeliveryError.unusable(
      reason: "there is no calendar at this address, and none can be made (\(response.status)): is url right?")
  }

  private static func escaped(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\u{0}"..<" ", "\u{7F}": break
      default: result.unicodeScalars.append(scalar)
      }
    }
  }

  // MARK: Requests

  private func write(
    _ body: [UInt8], _ name: String, _ condition: (name: String, value: String)?
  ) async throws -> HTTPService.Response {
    try await answer(
      "PUT", name, [("Content-Type", "text/calendar; charset=utf-8")] + (condition.map { [$0] } ?? []), body)
  }

  private func request(
    _ method: String, _ name: String, _ headers: [(name: String, value: String)] = [], _ body: String? = nil
  ) async throws -> HTTPService.Response {
    try await answer(method, name, headers, body.map { Array($0.utf8) })
  }

  /// Sends a request and returns the answer, including 403. Throws other failures (``HTTPService/failure(_:)``).
  private func answer(
    _ method: String, _ name: String, _ headers: [(name: String, value: String)], _ body: [UInt8]?
  ) async throws -> HTTPService.Response {
    let response = try await service.answer(
      to: HTTPService.Request(method, url + name, headers: authorization + headers, body: body))
    if response.status != 403, let error = HTTPService.failure(response) { throw error }
    return response
  }

  private static func unexpected(_ response: HTTPService.Response) -> DeliveryError {
    HTTPService.misplaced(response)
      ?? .unusable(reason: "it answers \(response.status), as no calendar does: is url right?")
  }
}
