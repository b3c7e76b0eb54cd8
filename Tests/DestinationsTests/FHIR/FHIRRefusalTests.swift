import Foundation
import HealthModel
import Synchronization
import TestSupport
import Testing

@testable import Destinations

/// Tests of servers that refuse resources, and of the reported reasons.
@Suite(.timeLimit(.minutes(5))) struct FHIRRefusalTests {
  private let home: DestinationHome
  private let samples: [Sample]

  init() async throws {
    home = try DestinationHome()
    var maker = SampleMaker(seed: 21)
    samples = (0..<40).map { maker.steps(at: $0) }
    try await home.add(samples)
  }

  private func deliver(
    to endpoint: RawEndpoint, _ values: [String: DestinationSettings.Value] = [:]
  ) async throws -> CourierReport {
    let destination = try home.make(
      FHIRDestination.self,
      values.merging([
        "url": .text(endpoint.url), "subject": .text("Patient/1"), "token": .text("env:TOKEN"),
      ]) { first, _ in first }, secrets: ["TOKEN": "s3cret"])
    do {
      let report = try await home.deliver(to: destination)
      await destination.close()
      return report
    } catch {
      await destination.close()
      throw error
    }
  }

  /// Returns the indexes of the entries that contain a text.
  private static func places(of text: String, in body: [UInt8]) -> [Int] {
    String(decoding: body, as: UTF8.self).components(separatedBy: #"{"fullUrl":"#).dropFirst().enumerated()
      .filter { $0.element.lowercased().contains(text.lowercased()) }.map(\.offset)
  }

  @Test("entries that a transaction fails for are left out and set aside, and all others arrive")
  func named() async throws {
    let poison = [samples[7], samples[30]].map(\.uuid.uuidString)
    let endpoint = try RawEndpoint { exchange in
      let places = poison.flatMap { Self.places(of: $0, in: exchange.request.body) }
      if places.isEmpty { return exchange.answer(200, [:], #"{"resourceType":"Bundle"}"#) }
      let issues = places.map {
        #"{"severity":"error","code":"invalid","diagnostics":"value? Bearer s3cret\u0007","expression":["Bundle.entry[\#($0)].resource"]}"#
      }
      return exchange.answer(
        422, [:], #"{"resourceType":"OperationOutcome","issue":[\#(issues.joined(separator: ","))]}"#)
    }
    #expect(try await deliver(to: endpoint) == CourierReport(delivered: 38, refused: 2))
    #expect(endpoint.requests.count == 2)
    #expect(Set(home.refused().keys) == Set(poison))
    #expect(Set(home.refused().values) == ["it answers 422: value? Bearer … "])
  }

  @Test(
    "where a server names none, the one at fault is found, whatever it says",
    arguments: [
      "", "<html>no</html>", #"{"resourceType":"OperationOutcome"}"#, #"{"issue":[{"severity":"error","code":"x"}]}"#,
      #"{"issue":[{"expression":["Bundle.entry[99999999999999999999]"]}]}"#,
      #"{"issue":[{"expression":["Bundle.entry[4000]"]}]}"#,
      #"{"issue":[{"expression":["Bundle.entry[-1]"]},{"expression":["Patient"]}]}"#, "[[[[[[[[", "null",
    ]) func unnamed(_ text: String) async throws
  {
    let poison = samples[7].uuid.uuidString
    let endpoint = try RawEndpoint { exchange in
      Self.places(of: poison, in: exchange.request.body).isEmpty
        ? exchange.answer(200) : exchange.answer(400, [:], text)
    }
    #expect(try await deliver(to: endpoint) == CourierReport(delivered: 39, refused: 1))
    #expect(Array(home.refused().keys) == [poison])
  }

  @Test("of a batch each entry has its own outcome")
  func batch() async throws {
    let poison = samples[7].uuid.uuidString
    let attempts = Mutex(0)
    let endpoint = try RawEndpoint { exchange in
      let attempt = attempts.withLock { attempts in
        attempts += 1
        return attempts
      }
      let bad = Set(Self.places(of: poison, in: exchange.request.body))
      let answers = (0..<40).map { place in
        // One is busy the first time: all come again.
        let status = bad.contains(place) ? "422 No" : place == 20 && attempt == 1 ? "503" : "201 Created"
        return #"{"response":{"status":"\#(status)","outcome":{"issue":[{"details":{"text":"no"}}]}}}"#
      }
      return exchange.answer(200, [:], #"{"entry":[\#(answers.joined(separator: ","))]}"#)
    }
    #expect(
      try await deliver(to: endpoint, ["bundle": .text("batch")])
        == CourierReport(delivered: 39, refused: 1, retries: 1))
    #expect(home.refused() == [poison: "it answers 422: no"])
  }

  @Test(
    "an answer that has not as many outcomes as there were entries says nothing",
    arguments: [
      "", "{}", #"{"entry":[{"response":{"status":"200"}}]}"#, #"{"entry":[{}]}"#, "null",
    ]) func fewer(_ text: String) async throws
  {
    let endpoint = try RawEndpoint { $0.answer(200, [:], text) }
    await #expect(throws: CourierError.self) { try await deliver(to: endpoint, ["bundle": .text("batch")]) }
    #expect(home.refused().isEmpty)
  }

  @Test(
    "a wrong address, or credentials that were taken away, refuse nothing for good",
    arguments: [301, 401, 403, 404, 410])
  func unusable(_ status: Int) async throws {
    let endpoint = try RawEndpoint { $0.answer(status, ["Location": "https://example.org/"]) }
    await #expect(throws: CourierError.self) { try await deliver(to: endpoint) }
    #expect(home.refused().isEmpty && endpoint.requests.count == 1)
  }

  @Test(
    "a page of a server that is none of FHIR is not taken for success",
    arguments: ["<html>Log in</html>", "{}", "[]", #"{"resourceType":"Patient"}"#])
  func page(_ text: String) async throws {
    let endpoint = try RawEndpoint { $0.answer(200, [:], text) }
    let error = await #expect(throws: CourierError.self) { try await deliver(to: endpoint) }
    #expect(error.map { "\($0)" }?.contains("no FHIR server") == true)
    let server = try RawEndpoint { $0.answer(200, [:], #"{"resourceType":"Bundle","type":"transaction-response"}"#) }
    #expect(try await deliver(to: server) == CourierReport(delivered: 40))
  }

  @Test("a patient that is made is known by where it is, or by what comes back")
  func patient() async throws {
    for (headers, body, isGood) in [
      (["Location": "https://example.org/fhir/Patient/p-1/_history/1"], "", true),
      ([:], #"{"resourceType":"Patient","id":"p-1"}"#, true), ([:], "", false),
      (["Location": "https://example.org/Patient/%2e%2e?x"], "", false), (["Location": "Patient"], "{}", false),
    ] {
      let endpoint = try RawEndpoint { exchange in
        exchange.request.target == "/Patient" ? exchange.answer(201, headers, body) : exchange.answer(200)
      }
      let destination = try home.make(FHIRDestination.self, ["url": .text(endpoint.url)])
      let courier = Courier(
        to: destination, named: "fhir:\(UUID().uuidString)", from: home.store, policy: DestinationHome.quick)
      if isGood {
        #expect(try await courier.run().delivered == 40)
        let sent = try #require(endpoint.requests.last)
        #expect(String(decoding: sent.body, as: UTF8.self).contains(#""subject":{"reference":"Patient/p-1"}"#))
        #expect(endpoint.requests[0].headers["if-none-exist"]?.hasPrefix("identifier=urn:hpeer:fhir:store%7C") == true)
      } else {
        await #expect(throws: CourierError.self) { try await courier.run() }
      }
      await destination.close()
    }
  }
}
