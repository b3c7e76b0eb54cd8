import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import PeerProtocol

extension Request {
  /// What the caller shows of the certificate that it had before; `nil` for nothing, and for what cannot be that.
  var rotation: RotationStatement? {
    HTTPField.Name(RotationStatement.header).flatMap { headers[$0] }.flatMap { RotationStatement(text: $0) }
  }

  /// The whole body of a request that anyone may send, bounded in size and time.
  ///
  /// Throws ``ServerFailure`` 408 when it does not arrive in time and 400 when the caller breaks it off, and
  /// `NIOTooManyBytesError` (413) when it is larger than `limit` bytes.
  func message(
    upTo limit: Int, within timeout: Duration, clock: any Clock<Duration> = ContinuousClock()
  ) async throws -> ByteBuffer {
    let body = self.body
    return try await withThrowingTaskGroup(of: ByteBuffer?.self) { group in
      group.addTask { try await body.collect(upTo: limit) }
      group.addTask {
        try await clock.sleep(for: timeout)
        return nil
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
