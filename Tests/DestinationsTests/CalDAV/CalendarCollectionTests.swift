import Foundation
import HealthFormats
import HealthModel
import Synchronization
import TestSupport
import Testing

@testable import Destinations

/// Tests with responses that Radicale doesn't give.
@Suite(.timeLimit(.minutes(5)))
struct CalendarCollectionTests {
  /// - Parameter status: The response to MKCALENDAR, which comes too late, or `nil` if the calendar is made before
  /// MKCALENDAR is sent.
  @Test(
    "a calendar that another program makes at the same moment is written to", arguments: [nil, 405, 409], [false, true])
  func madeMeanwhile(_ status: Int?, isToldWithin: Bool) async throws {
    let isMade = Mutex(false)
    let endpoint = try RawEndpoint { exchange in
      let wasMade = isMade.withLock(\.self)
      switch exchange.request.method {
      case "PUT":
        if status == nil { isMade.withLock { $0 = true } }
        return exchange.answer(wasMade ? 201 : 409)
      // As Xandikos does.
      case "PROPFIND" where isToldWithin && !wasMade: return exchange.answer(207, [:], Self.missing)
      case "PROPFIND": return exchange.answer(wasMade ? 207 : 404)
      default:
        isMade.withLock { $0 = true }
        return exchange.answer(status ?? 405)
      }
    }
    let service = try HTTPServiceTests.service(endpoint.url)
    let calendar = CalendarCollection(
      service, url: endpoint.url, authorization: [], displayName: "Health", record: "ada", destination: "calendar")
    let time = Timestamp(seconds: 1_718_447_400)
    let event = CalendarEvent(
      uid: "a", stamp: time, time: .instants(start: time, end: time), summary: "Run", category: "Workout")
    #expect(try await calendar.put(event, named: CalendarCollection.name("a")) == .done)
    #expect(endpoint.requests.last?.method == "PUT")
    await service.close()
  }

  private static let missing = """
    <ns0:multistatus xmlns:ns0="DAV:"><ns0:response><ns0:href>/health/</ns0:href><ns0:status>HTTP/1.1 404 Not Found</ns0:status>\
    </ns0:response></ns0:multistatus>
    """

  @Test("a calendar of which 207 says that it is missing is none, and not an empty one")
  func missingWithin() async throws {
    let endpoint = try RawEndpoint { exchange in
      exchange.request.method == "PROPFIND" ? exchange.answer(207, [:], Self.missing) : exchange.answer(201)
    }
    let service = try HTTPServiceTests.service(endpoint.url)
    let calendar = CalendarCollection(
      service, url: endpoint.url, authorization: [], displayName: nil, record: "ada", destination: "calendar")
    await #expect(throws: DeliveryError.self) { try await calendar.list() }
    await service.close()
  }

  @Test("what is delivered again goes on where it stopped, also where the record starts over")
  func goesOn() async throws {
    let home = try DestinationHome()
    let samples = CalDAVHarness.workouts(10)
    let endpoint = try RawEndpoint { exchange in
      switch exchange.request.method {
      case "PROPFIND":
        return exchange.answer(
          207, [:],
          #"<multistatus xmlns="DAV:"><response><href>/hpeer-old.ics</href></response></multistatus>"#)
      // One deletion and four events later.
      case "PUT" where exchange.number == 6: return exchange.answer(503)
      case "PUT": return exchange.answer(201)
      default: return exchange.answer(204)
      }
    }
    let destination = try home.make(CalDAVDestination.self, ["url": .text(endpoint.url)])
    var coder = ChangeCoder()
    for sample in samples { try coder.add(sample) }
    let batch = DeliveryBatch(changes: coder.changes, startsOver: true)
    let key = DeliveryKey(description: "key")
    await #expect(throws: DeliveryError.self) { try await destination.deliver(batch, key: key) }
    _ = try await destination.deliver(batch, key: key)
    var written = endpoint.requests.filter { $0.method == "PUT" }.map(\.target)
    #expect(written.count == 11 && Set(written).count == 10)
    #expect(endpoint.requests.filter { $0.method == "DELETE" }.map(\.target) == ["/hpeer-old.ics"])
    // Another delivery writes all of them, whatever was there before.
    _ = try await destination.deliver(
      DeliveryBatch(changes: coder.changes, startsOver: false), key: DeliveryKey(description: "other"))
    written = endpoint.requests.filter { $0.method == "PUT" }.map(\.target)
    #expect(written.count == 21)
    await destination.close()
  }
}
