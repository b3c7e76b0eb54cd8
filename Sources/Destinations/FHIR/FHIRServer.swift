import Foundation
import HealthModel

/// A client for the parts of a FHIR R4 server's REST interface that hpeer needs.
struct FHIRServer: Sendable {
  /// An entry that a server refuses permanently.
  struct Refusal: Hashable, Sendable {
    /// The sample; `nil` for an entry that belongs to no sample.
    var sample: SampleReference?
    var reason: String
  }

  /// The maximum number of Bundles to find the refused entries; the courier isolates the rest.
  private static let attempts = 3
  private static let contentType = "application/fhir+json"

  private let service: HTTPService
  /// The base URL, without a slash at its end.
  private let url: String
  private let token: String?
  private let kind: FHIRBundleKind

  init(_ service: HTTPService, url: String, token: String?, kind: FHIRBundleKind) {
    self.service = service
    self.url = url.hasSuffix("/") ? String(url.dropLast()) : url
    (self.token, self.kind) = (token, kind)
  }

  func close() async { await service.close() }

  // MARK: Bundles

  /// Sends entries until the server has all except those that it refuses permanently. Throws ``DeliveryError``.
  func send(_ entries: [FHIREntry]) async throws -> [Refusal] {
    switch kind {
    case .transaction: try await transact(entries)
    case .batch: try await sendEach(entries)
    }
  }

  /// Sends a transaction, all or nothing. Entries that the server blames are omitted from the next attempt.
  private func transact(_ entries: [FHIREntry]) async throws -> [Refusal] {
    var (entries, refusals) = (entries, [Refusal]())
    for attempt in 1... {
      let response = try await post(entries)
      if (200...299).contains(response.status) {
        guard response.body.isEmpty || FHIROutcome.isAnswer(response.body) else {
          throw DeliveryError.unusable(
            reason: "it answers \(response.status), and something that no FHIR server says to a Bundle: is url right?")
        }
        return refusals
      }
      let outcome = FHIROutcome(response.body)
      let named = outcome.entries.filter { entries.indices.contains($0.key) }
      guard !named.isEmpty, attempt < Self.attempts else {
        throw DeliveryError.refused(reason: said(response, outcome))
      }
      refusals += named.sorted { $0.key < $1.key }.map {
        Refusal(sample: entries[$0.key].sample, reason: said(response.status, $0.value))
      }
      entries = entries.enumerated().filter { named[$0.offset] == nil }.map(\.element)
      if entries.isEmpty { return refusals }
    }
    return refusals
  }

  private func sendEach(_ entries: [FHIREntry]) async throws -> [Refusal] {
    let response = try await post(entries)
    guard (200...299).contains(response.status) else {
      throw DeliveryError.refused(reason: said(response, FHIROutcome(response.body)))
    }
    let answers = FHIROutcome.entries(of: response.body)
    guard answers.count == entries.count else {
      throw DeliveryError.temporary(reason: "it answers \(answers.count) of \(entries.count) entries")
    }
    var refusals: [Refusal] = []
    for (entry, answer) in zip(entries, answers) {
      let status = answer.status
      switch status {
      case 200...299: continue
      // There was nothing to delete.
      case 404, 410: if entry.bytes.starts(with: #"{"request":{"method":"DELETE""#.utf8) { continue }
      default: break
      }
      if let failure = HTTPService.failure(HTTPService.Response(status: status, headers: [], body: [])) {
        throw failure
      }
      refusals.append(Refusal(sample: entry.sample, reason: said(status, answer.reason)))
    }
    return refusals
  }

  private func post(_ entries: [FHIREntry]) async throws -> HTTPService.Response {
    var body = Array(#"{"resourceType":"Bundle","type":"\#(kind.rawValue)","entry":["#.utf8)
    for (index, entry) in entries.enumerated() {
      if index > 0 { body.append(UInt8(ascii: ",")) }
      body += entry.bytes
    }
    body += "]}".utf8
    let response = try await send("POST", url, [("Prefer", "return=minimal")], body)
    if let error = HTTPService.misplaced(response) { throw error }
    return response
  }

  // MARK: Resources

  /// Creates a resource unless a search finds one, and returns its reference: `Patient/123`.
  ///
  /// - Parameter search: a percent-encoded query.
  func create(_ type: String, _ resource: [UInt8], unless search: String) async throws -> String {
    let response = try await send(
      "POST", "\(url)/\(type)", [("If-None-Exist", search), ("Prefer", "return=representation")], resource)
    if let error = HTTPService.misplaced(response) { throw error }
    guard (200...299).contains(response.status) else {
      throw DeliveryError.unusable(
        reason:
          "no \(type) can be made: \(said(response, FHIROutcome(response.body))); subject may name one that is there")
    }
    struct Named: Decodable { var id: String? }
    let id =
      FHIROutcome.id(inLocation: response.header("Location"), of: type)
      ?? (try? JSONDecoder().decode(Named.self, from: Data(response.body)))?.id
    guard let id, FHIROutcome.isID(id) else {
      throw DeliveryError.unusable(
        reason: "it does not say which \(type) it has made: subject may name one that is there")
    }
    return "\(type)/\(id)"
  }

  /// Returns whether a search finds a resource, or the server doesn't tell.
  ///
  /// - Parameter search: `Observation?identifier=…`, percent-encoded.
  func mayHave(_ search: String) async throws -> Bool {
    struct Found: Decodable {
      struct Entry: Decodable {
        struct Resource: Decodable { var resourceType: String? }
        var resource: Resource?
      }
      var resourceType: String?
      var entry: [Entry]?
    }
    do {
      let response = try await send("GET", "\(url)/\(search)&_elements=identifier", [], nil)
      if let error = HTTPService.misplaced(response) { throw error }
      guard response.status == 200, let found = try? JSONDecoder().decode(Found.self, from: Data(response.body)),
        found.resourceType == "Bundle"
      else { return true }
      return (found.entry ?? []).contains { $0.resource?.resourceType.map(search.hasPrefix) ?? false }
    } catch DeliveryError.unusable {
      // The token may permit writing but not searching.
      return true
    }
  }

  /// Returns a reference, percent-encoded for a query.
  static func escaped(_ subject: String) -> String {
    subject.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(.init(charactersIn: "-._~/:"))) ?? subject
  }

  /// Deletes everything that hpeer has written for a patient, page by page.
  func deleteAll(of subject: String) async throws {
    let patient = Self.escaped(subject)
    for type in ["Observation", "DocumentReference"] {
      let search = "\(url)/\(type)?subject=\(patient)&_count=200&_elements=identifier,extension"
      var last: Set<String> = []
      while true {
        // With numbered pages, a deletion moves other resources past the next page, so the search is repeated.
        let first = try await deletePages(of: type, from: search)
        // A server that still finds deleted resources must not cause an endless loop.
        if first.isEmpty || !first.isDisjoint(with: last) { break }
        last = first
      }
    }
  }

  /// Deletes the resources on all pages, and returns those of the first page that had any.
  private func deletePages(of type: String, from search: String) async throws -> Set<String> {
    var first: Set<String> = []
    var address: String? = search
    while let asked = address {
      let response = try await send("GET", asked, [], nil)
      // Servers may not support this resource type.
      if response.status == 404, type == "DocumentReference" { return first }
      if let error = HTTPService.misplaced(response) { throw error }
      guard response.status == 200 else {
        throw DeliveryError.unusable(reason: "it cannot be searched: \(said(response, FHIROutcome(response.body)))")
      }
      guard FHIROutcome.isAnswer(response.body) else {
        throw DeliveryError.unusable(
          reason: "it answers 200, and something that no FHIR server says to a search: is url right?")
      }
      let page = FHIRSearchPage(response.body, of: type)
      if !page.own.isEmpty {
        if first.isEmpty { first = Set(page.own) }
        _ = try await send(
          page.own.map {
            FHIREntry(sample: nil, bytes: Array(#"{"request":{"method":"DELETE","url":"\#(type)/\#($0)"}}"#.utf8))
          })
      }
      address = page.next(after: asked)
    }
    return first
  }

  private func send(
    _ method: String, _ address: String, _ headers: [(name: String, value: String)], _ body: [UInt8]?
  ) async throws -> HTTPService.Response {
    var headers = headers + [("Accept", Self.contentType)]
    if body != nil { headers.append(("Content-Type", Self.contentType)) }
    if let token { headers.append(HTTPHeaderText.bearer(token)) }
    return try await service.send(HTTPService.Request(method, address, headers: headers, body: body))
  }

  // MARK: Answers

  private func said(_ response: HTTPService.Response, _ outcome: FHIROutcome) -> String {
    said(response.status, outcome.reason)
  }

  /// Returns a reason without the token: a server may quote the request.
  private func said(_ status: Int, _ reason: String?) -> String {
    guard var reason, !reason.isEmpty else { return "it answers \(status)" }
    reason = reason.shortened(toBytes: 65_536)
    if let token { reason = reason.replacing(token, with: "…") }
    return "it answers \(status): \(reason.shortened(toBytes: 300))"
  }
}
