import Foundation
import HealthModel
import Synchronization
import TestSupport
import Testing

@testable import Destinations

/// Tests of which resources of a patient are deleted when the record starts over, on servers with small pages.
@Suite(.timeLimit(.minutes(1))) struct FHIRStartingOverTests {
  /// A server with Observations, of which those with odd IDs belong to others.
  private final class Server: Sendable {
    private let resources = Mutex(Array(1...20))
    /// The name by which the server refers to itself.
    let name: String

    init(name: String) { self.name = name }

    var left: [Int] { resources.withLock(\.self) }

    /// Returns a page of three search results, by offset.
    func search(_ target: String) -> String {
      guard target.hasPrefix("/Observation?") else { return #"{"resourceType":"Bundle","type":"searchset"}"# }
      let start = target.components(separatedBy: "_offset=").dropFirst().first.flatMap { Int($0) } ?? 0
      let all = left
      let entries = all.dropFirst(start).prefix(3).map { id in
        let mark = id.isMultiple(of: 2) ? #","extension":[{"url":"urn:hpeer:fhir:sample"}]"# : ""
        return #"{"resource":{"resourceType":"Observation","id":"\#(id)"\#(mark)}}"#
      }
      let next = "\(name)Observation?subject=Patient/1&_offset=\(start + 3)"
      let links = start + 3 < all.count ? #"{"relation":"self","url":"x"},{"relation":"next","url":"\#(next)"}"# : ""
      return
        #"{"resourceType":"Bundle","type":"searchset","link":[\#(links)],"entry":[\#(entries.joined(separator: ","))]}"#
    }

    func delete(_ body: String) {
      resources.withLock { resources in
        resources.removeAll { body.contains(#""url":"Observation/\#($0)""#) }
      }
    }
  }

  @Test(
    "all that is ours goes, on whatever page it is and whatever the server calls itself, and no one else's",
    arguments: ["", "/", "https://inner.example:8443/"])
  func pages(_ name: String) async throws {
    let server = Server(name: name)
    let endpoint = try RawEndpoint { exchange in
      if exchange.request.method == "GET" { return exchange.answer(200, [:], server.search(exchange.request.target)) }
      server.delete(String(decoding: exchange.request.body, as: UTF8.self))
      return exchange.answer(200, [:], #"{"resourceType":"Bundle"}"#)
    }
    try await startOver(at: endpoint)
    #expect(server.left == Array(stride(from: 1, through: 19, by: 2)))
  }

  @Test("a server that goes on showing what is deleted, or leads round in a circle, is not asked for ever")
  func shown() async throws {
    let server = Server(name: "")
    let endpoint = try RawEndpoint { exchange in
      guard exchange.request.method == "GET" else { return exchange.answer(200, [:], #"{"resourceType":"Bundle"}"#) }
      return exchange.answer(
        200, [:],
        server.search(exchange.request.target)
          .replacing(#""url":"Observation?subject=Patient/1&_offset=6""#, with: #""url":"\#(exchange.request.target)""#)
      )
    }
    try await startOver(at: endpoint)
    #expect(endpoint.requests.filter { $0.method == "GET" }.count == 5)
  }

  private func startOver(at endpoint: RawEndpoint) async throws {
    let home = try DestinationHome()
    var maker = SampleMaker(seed: 7)
    var coder = ChangeCoder()
    try coder.add(maker.steps(at: 1))
    let destination = try home.make(
      FHIRDestination.self, ["url": .text(endpoint.url), "subject": .text("Patient/1")])
    let batch = DeliveryBatch(changes: coder.changes, startsOver: true)
    _ = try await destination.deliver(batch, key: DeliveryKey(description: "key"))
    await destination.close()
  }
}
