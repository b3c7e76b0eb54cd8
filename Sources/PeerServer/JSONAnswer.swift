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
}
