// A service of Apache CXF that answers with what it was sent. Prints its port, and writes its WSDL to the file named; ends with its input.
//
// java -cp "JARS/*" CxfServer.java WSDL

import jakarta.jws.WebMethod;
import jakarta.jws.WebParam;
import jakarta.jws.WebService;
import jakarta.xml.ws.Endpoint;
import java.io.InputStream;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

public class CxfServer {
    @WebService(targetNamespace = "urn:bsoap:cxf", serviceName = "Echo", portName = "Echo", name = "EchoType")
    public static class Echo {
        @WebMethod
        public String reading(
                @WebParam(name = "station") String station,
                @WebParam(name = "value") double value,
                @WebParam(name = "quality") int quality) {
            return station + "|" + Double.doubleToLongBits(value) + "|" + quality;
        }
    }

    public static void main(String[] arguments) throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        String address = "http://127.0.0.1:" + port + "/echo";
        Endpoint.publish(address, new Echo());
        try (InputStream wsdl = URI.create(address + "?wsdl").toURL().openStream()) {
            Files.copy(wsdl, Path.of(arguments[0]), StandardCopyOption.REPLACE_EXISTING);
        }
        System.out.println(port);
        while (System.in.read() >= 0) {
            // Until whoever started it ends.
        }
        System.exit(0);
    }
}
