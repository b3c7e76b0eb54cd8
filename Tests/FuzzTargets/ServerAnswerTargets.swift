import Foundation
import HealthModel

@testable import Destinations

extension FuzzTarget {
  /// Fuzzes the parsers of answers from WebDAV, CalDAV and S3 servers. The first byte determines the status.
  @Sendable static func serverXML(_ input: [UInt8]) {
    guard let seed = input.first else { return }
    let body = Array(input.dropFirst())
    for name in MultistatusNames.names(in: body) { require(!name.isEmpty, "a name") }
    for member in WebDAVListing(body, now: Date(timeIntervalSince1970: 1_700_000_000)).members {
      require(
        !member.name.isEmpty && member.name != "." && member.name != ".." && !member.name.contains("/"),
        "a name that leads nowhere else: \(member.name)")
    }
    let status = [200, 201, 207, 403, 423, 503][Int(seed) % 6]
    let response = HTTPService.Response(status: status, headers: [("Lock-Token", text(body.prefix(64)))], body: body)
    if let lock = WebDAVLock(response, name: "a/", url: "http://localhost/a/") {
      require(
        (Duration.seconds(2)...WebDAVLock.asked).contains(lock.timeout), "a time that makes sense: \(lock.timeout)")
      require(HTTPHeaderText.isValue(lock.condition.value), "fits a header: \(lock.token)")
    }
    _ = WebDAVLock.isHeldByOthers(response)
    let page = S3Page(body)
    require(page.objects.count <= body.count / 10, "no more objects than there are texts")
    if let failure = S3Failure(response, mayComeLate: true), let region = failure.region {
      require(region.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "a region: \(region)")
    }
    let plain = text(body)
    let escaped = plain.unicodeScalars.reduce(into: "") { escaped, scalar in
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    require(XMLElements.unescaped(escaped).utf8.elementsEqual(plain.utf8), "what was escaped is read: \(plain)")
  }

  /// Fuzzes the parsers of a FHIR server's answers.
  @Sendable static func fhirOutcome(_ input: [UInt8]) {
    let outcome = FHIROutcome(input)
    for reason in [outcome.reason].compactMap(\.self) + outcome.entries.values {
      require(reason.count <= 10_000, "a reason of a bounded length")
      require(
        reason.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }, "for a terminal: \(reason)")
    }
    require(outcome.entries.keys.allSatisfy { $0 >= 0 }, "places of entries")
    for answer in FHIROutcome.entries(of: input) { require((100...599).contains(answer.status), "a status") }
    let page = FHIRSearchPage(input, of: "Observation")
    for id in page.own { require(FHIROutcome.isID(id), "an id: \(id)") }
    if let next = page.next(after: "https://localhost/fhir/Observation") {
      require(next.hasPrefix("https://localhost"), "the same server: \(next)")
    }
    _ = FHIROutcome.id(inLocation: text(input), of: "Patient")
  }

  /// Fuzzes the parser of Home Assistant's WebSocket messages.
  @Sendable static func homeAssistantMessages(_ input: [UInt8]) {
    do {
      _ = try HomeAssistantSocket.message(input, "localhost")
    } catch {
      guard case .temporary(let reason, _)? = error as? DeliveryError else {
        fatalError("broken promise: a documented error: \(error)")
      }
      require(reason.utf8.count < 200, "says nothing of what was sent")
    }
  }

  /// Fuzzes the parsers of header values that servers send.
  @Sendable static func headerTexts(_ input: [UInt8]) {
    let text = text(input)
    let now = Date(timeIntervalSince1970: 1_700_000_000)
    if let duration = RetryAfter.duration(text, now: now) {
      require((Duration.zero...Duration.seconds(366 * 86_400)).contains(duration), "at most a year: \(duration)")
    }
    if let date = RetryAfter.date(text, now: now) {
      require(Timestamp(iso8601: date.iso8601) == date, "a date: \(date)")
    }
    if let token = WebDAVLock.token(text) {
      require(HTTPHeaderText.isValue(token) && token.utf8.count <= 512, "fits a header: \(token)")
      require(WebDAVLock.token(token) == token, "a token has one spelling: \(token)")
    }
    if HTTPHeaderText.isName(text) {
      require(!text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "a header's name: \(text)")
    }
    if HTTPHeaderText.isValue(text) { require(!text.contains("\n") && !text.contains("\r"), "one line: \(text)") }
  }

  /// Fuzzes a file of a type and day that other programs have modified: its content must be unchanged after it is
  /// written and read back. The first byte determines the file format.
  @Sendable static func dayFileMerge(_ input: [UInt8]) {
    guard let seed = input.first else { return }
    let format = DayFileFormat.allCases[Int(seed) % DayFileFormat.allCases.count]
    let (file, _) = DayFile.reading(Array(input.dropFirst()), as: format)
    let bytes = file.bytes()
    let (again, isWhole) = DayFile.reading(bytes, as: format)
    require(isWhole, "what was written is whole: \(text(bytes))")
    require(again.count == file.count, "as many records: \(file.count), \(again.count): \(text(bytes))")
    require(again.bytes() == bytes, "the same once more: \(text(bytes))")
  }
}
