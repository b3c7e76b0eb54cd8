import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import PeerProtocol
import Synchronization

/// The minimum rate at which a body must arrive, except at its end.
struct BodyPace: Sendable {
  var leastBytes: Int
  /// The interval in which ``leastBytes`` must arrive.
  var each: Duration
}

extension Request {
  /// The rotation statement of a client that replaced its certificate, or `nil` if there is none or it is malformed.
  var rotation: RotationStatement? {
    HTTPField.Name(RotationStatement.header).flatMap { headers[$0] }.flatMap { RotationStatement(text: $0) }
  }

  /// Returns the complete body of a request, bounded in size and time.
  ///
  /// Throws ``ServerFailure`` 408 if the body does not arrive in time or is slower than `pace`, 400 if the caller
  /// ends it early, and `NIOTooManyBytesError` (413) if it is larger than `limit` bytes.
  func message(
    upTo limit: Int, within timeout: Duration, pace: BodyPace? = nil, clock: any Clock<Duration> = ContinuousClock()
  ) async throws -> ByteBuffer {
    let arrival = BodyArrival(body)
    return try await withThrowingTaskGroup(of: ByteBuffer?.self) { group in
      group.addTask { try await arrival.collect(upTo: limit) }
      group.addTask {
        try await clock.sleep(for: timeout)
        return nil
      }
      if let pace {
        group.addTask {
          try await arrival.fallsBehind(pace, clock: clock)
          return nil
        }
      }
      defer { group.cancelAll() }
      do {
        if let bytes = try await group.next() ?? nil { return bytes }
      } catch let error where error is NIOTooManyBytesError || error is HTTPParserError || error is CancellationError {
        throw error
      } catch {
        throw ServerFailure.badRequest("The request body ended early")
      }
      throw ServerFailure(
        status: .requestTimeout, message: "The request body did not arrive in time", headers: [.connection: "close"])
    }
  }
}

/// A body that is being read, with the number of bytes received.
private final class BodyArrival: Sendable {
  private let body: RequestBody
  private let received = Atomic(0)

  init(_ body: RequestBody) { self.body = body }

  /// Returns the complete body. Throws `NIOTooManyBytesError` for more than `limit` bytes.
  func collect(upTo limit: Int) async throws -> ByteBuffer {
    var bytes = ByteBuffer()
    for try await var part in body {
      guard part.readableBytes <= limit - bytes.readableBytes else { throw NIOTooManyBytesError(maxBytes: limit) }
      bytes.writeBuffer(&part)
      received.store(bytes.readableBytes, ordering: .relaxed)
    }
    return bytes
  }

  /// Returns as soon as the body falls behind the pace.
  func fallsBehind(_ pace: BodyPace, clock: any Clock<Duration>) async throws {
    var before = 0
    repeat {
      before = received.load(ordering: .relaxed)
      try await clock.sleep(for: pace.each)
    } while received.load(ordering: .relaxed) - before >= pace.leastBytes
  }
}
