import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// Makes responses out of encodable values.
enum JSONAnswer {
  static func response(
    _ value: some Encodable, status: HTTPResponse.Status = .ok, headers: HTTPFields = .init()
  ) -> Response {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    var headers = headers
    var status = status
    let data: Data
    do {
      data = try encoder.encode(value)
    } catch {
      status = .internalServerError
      data = Data(#"{"error":"Internal error","success":false}"#.utf8)
    }
    headers[.contentType] = "application/json"
    headers[.cacheControl] = "no-store"
    return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: data)))
  }

  /// The headers of an answer of JSON that nobody is to keep.
  static let headers: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store"]

  /// Sends JSON without its length, so that it goes out in small pieces (``FairScheduling``).
  static func inPieces(_ json: ByteBuffer) -> Response {
    let body = ResponseBody { writer in
      try await writer.write(json)
      try await writer.finish(nil)
    }
    return Response(status: .ok, headers: headers, body: body)
  }
}
